#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "replay/engine/result.h"
#include "replay/traces/pollux_trace.h"

namespace trainyard::replay {

// Tiresias by the rules of Pollux' artifact: a decision every 60 s; two queues, with the limit at 16 GPU
// hours. GPUs are counted, not placed, but running jobs keep their nodes and new ones fill the emptiest.
// Every change of an allocation pauses the job for 30 s.
[[nodiscard]] ReplayResult runPolluxTiresias(const PolluxTrace& trace, const std::vector<ReplayNode>& cluster,
                                             const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace trainyard::replay
