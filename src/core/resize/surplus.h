#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "model/gang.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Returns true if the job can be resized now: it is elastic and placed, and no other change is under way.
[[nodiscard]] bool resizable(const model::Job& job);

// Returns true if some of its members may be given to other jobs.
[[nodiscard]] bool givesMembers(const model::Job& job);

// Members of the elastic role, by the record. Assumes an elastic job.
[[nodiscard]] int elasticMembers(const model::Job& job);
// The desired number of replicas, clamped to the minimum and the maximum.
[[nodiscard]] int desiredMembers(const model::Job& job);

// The assignments of the last `count` members of the elastic role, which leave when it shrinks.
[[nodiscard]] std::vector<model::Assignment> lastMembers(const model::Job& job, int count);
// All other assignments, which it keeps then.
[[nodiscard]] std::vector<model::Assignment> withoutLast(const model::Job& job, int count);

// Returns true if the job may start with fewer members than desired.
[[nodiscard]] bool mayStartSmaller(const model::Job& job, const model::Policy& policy);

// Returns a copy of the job with another desired size; for what-if questions only.
[[nodiscard]] std::shared_ptr<model::Job> withDesiredSize(const model::Job& job, int members);

// Returns a copy with the minimum size, if the job may start so; else nullptr.
[[nodiscard]] std::shared_ptr<model::Job> minimumOf(const model::Job& job, const model::Policy& policy);

// How long all members do no new work during a resize: the mean of the last measured pauses; else a
// default for its way to resize. A job that has to restart pays the cost of a stop
// (core/order/preemption_cost.h).
[[nodiscard]] std::chrono::microseconds resizePause(const model::Job& job, const model::Snapshot& snapshot);

}  // namespace trainyard::core
