#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/engine/options.h"
#include "replay/engine/result.h"
#include "replay/traces/muri_trace.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// The trace by the rules of Muri's simulator (SIGCOMM 2022; derived from Tiresias'), which are kept apart
// from our own replay so that equal policies give its published numbers: decisions at arrivals and ends only
// (and at demotions), everybody placed anew at each; the start-up is charged again at every event,
// moved or not, which moves the published numbers by up to 12 %. kTiresias has one pool of GPUs without
// places; the others take the first nodes that fit, jobs up to a node's GPUs unsplit, larger ones whole nodes
// only; whoever does not fit is passed over. kSrtf and kSrsf know durations. kInvalid when a job can
// never run, or for a policy that these rules do not have.
[[nodiscard]] bool knownToMuri(ReplayPolicy policy);
[[nodiscard]] base::Result<ReplayResult> runMuri(
    const MuriTrace& trace, const std::vector<ReplayNode>& cluster, ReplayPolicy policy,
    const std::function<void(std::size_t ended, std::size_t all)>& progress);

}  // namespace trainyard::replay
