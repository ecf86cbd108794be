#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "model/gang.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Whether anybody may resize the job now: it is elastic, has its places, and nothing else is under way.
[[nodiscard]] bool resizable(const model::Job& job);

// Whether others may be given some of its members.
[[nodiscard]] bool givesMembers(const model::Job& job);

// Members of the elastic role, by the record. Assumes an elastic job.
[[nodiscard]] int elasticMembers(const model::Job& job);
// What its user wishes, between its least and its most.
[[nodiscard]] int wishedMembers(const model::Job& job);

// The places of the last `count` members of the elastic role: those who go when it shrinks.
[[nodiscard]] std::vector<model::Assignment> lastMembers(const model::Job& job, int count);
// All other places: those that it keeps then.
[[nodiscard]] std::vector<model::Assignment> withoutLast(const model::Job& job, int count);

// Whether it may start with fewer members than its user wishes.
[[nodiscard]] bool mayStartSmaller(const model::Job& job, const model::Policy& policy);

// The same job as its user would have written it with another size; for questions only.
[[nodiscard]] std::shared_ptr<model::Job> withWish(const model::Job& job, int members);

// The same job with the least that it can do with, where it may start so; else nullptr.
[[nodiscard]] std::shared_ptr<model::Job> leastOf(const model::Job& job, const model::Policy& policy);

// How long all its members do nothing new when it is resized: the mean of the last pauses that were measured;
// else what is known of its way to be resized; a job that has to start anew pays for a stop
// (core/order/stop_cost.h).
[[nodiscard]] std::chrono::microseconds resizePause(const model::Job& job, const model::Snapshot& snapshot);

}  // namespace trainyard::core
