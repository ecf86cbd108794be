#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "core/order/job_times.h"
#include "model/job.h"
#include "model/run_times.h"
#include "model/shared_list.h"

namespace trainyard::core {

// The kinds that a job teaches and learns from, the narrower first: same namespace, name and GPUs; same
// queue and GPUs; same queue. A name is compared without the number or the random letters at its end
// ("bert-17" and "bert-x7k2p" are "bert"). The GPUs are those that the spec asks for, whatever size the gang
// runs with.
[[nodiscard]] std::array<std::string, 3> kindsOf(const model::Job& job);
// The kinds as hashes, equal where the kinds are equal (collisions are negligible). A cycle needs them for
// every job, and formatting twenty thousand names would cost more than the rest of the cycle.
[[nodiscard]] std::array<std::uint64_t, 3> kindNumbersOf(const model::Job& job);

// The recorded past of a cluster, which a new leader reads (operator/run_times_keeper.h).
//
// Adds the run times of succeeded jobs that are not recorded yet. A failed or deleted job is skipped: it does
// not show how long such a job runs. Keeps the last 1,024 of a kind, 20,000 in total, and at most 900 KiB.
// Beyond that, kinds with a single run go first, the oldest one of the namespace or queue that has most of
// them; then the kinds with the oldest last submission. Returns true if anything changed. Skips jobs without
// GPUs, and jobs with a spec that no longer matches what ran according to their record.
[[nodiscard]] bool learn(model::RunTimes& times, const model::SharedList<model::Job>& jobs);

// Adds the run times of `others`, within the same bounds. Returns true if anything changed.
bool merge(model::RunTimes& times, const model::RunTimes& others);

}  // namespace trainyard::core
