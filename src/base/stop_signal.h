#pragma once

#include <functional>

#include "base/executor.h"

namespace trainyard::base {

// Turns the first SIGTERM or SIGINT into a call on the loop, which must outlive the process's threads. Must
// be called before any other thread starts, so that all threads block both signals. (Rejected: a signal
// handler. It may not allocate; a waiting thread may.)
void onStopSignal(Executor& loop, std::function<void()> onStop);

}  // namespace trainyard::base
