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

// Runs the trace by the rules of Muri's simulator (SIGCOMM 2022; derived from Tiresias'). They are separate
// from Trainyard's own replay, so that equal policies reproduce the published numbers. Decisions are made at
// arrivals and ends only (and at demotions), and place every job again. The start-up is charged again at
// every event, moved or not, which changes the published numbers by up to 12 %. kTiresias has one pool of
// GPUs without placement; the other policies take the first nodes that fit, jobs up to a node's GPUs unsplit,
// larger ones whole nodes only; a job that does not fit is skipped. kSrtf and kSrsf use durations. kInvalid
// if a job can never run, or for a policy that these rules do not define.
[[nodiscard]] bool knownToMuri(ReplayPolicy policy);
[[nodiscard]] base::Result<ReplayResult> runMuri(
    const MuriTrace& trace, const std::vector<ReplayNode>& cluster, ReplayPolicy policy,
    const std::function<void(std::size_t ended, std::size_t all)>& progress);

}  // namespace trainyard::replay
