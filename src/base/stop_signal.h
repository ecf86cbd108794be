#pragma once

#include <functional>

#include "base/executor.h"

namespace trainyard::base {

// Turns the first SIGTERM or SIGINT into a call on the loop, which must outlive the process's threads. To be
// called before any other thread is begun, so that all have both signals blocked. A thread that waits beats a
// handler: it may allocate.
void onStopSignal(Executor& loop, std::function<void()> onStop);

}  // namespace trainyard::base
