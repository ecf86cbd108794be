#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cycle/waiting_order.h"
#include "core/ledger/ledger.h"
#include "core/queues/queue_tree.h"
#include "model/ids.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Whether the job may know how fast it is on several types of GPU (spec.plan.model).
[[nodiscard]] bool knowsTypes(const model::Job& job);

// On which type of GPU each waiting gang is to be placed that knows how fast it is on several
// (spec.plan.model): core/place/type_choice.h. To one with a planned shape its planned type is worth most,
// as its shape is made for it; roles that name a type themselves have nothing to choose. In the order of
// service as it is before anybody is placed, of the first 64 of them. Costs nothing where nobody knows.
[[nodiscard]] std::map<model::ObjectKey, std::string> typesForWaiting(
    const std::vector<Contender>& contenders, const model::Snapshot& snapshot, const Ledger& ledger,
    const QueueTree& tree);

}  // namespace trainyard::core
