#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/queues/queue_tree.h"
#include "core/schedule/pending_order.h"
#include "model/ids.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Returns true if the job may have speeds for several types of GPU (spec.plan.model).
[[nodiscard]] bool knowsTypes(const model::Job& job);

// Chooses the GPU type for each pending gang with speeds for several types (spec.plan.model), by
// core/search/type_choice.h. To a gang with a planned shape its planned type is worth most, because the shape
// is made for it. Jobs with roles that name a type have no choice. Gangs choose in the order of service
// before any placement, the first 64 of them. It costs nothing if no gang has such speeds.
[[nodiscard]] std::map<model::ObjectKey, std::string> typesForWaiting(
    const std::vector<PendingJob>& pendingJobs, const model::Snapshot& snapshot, const Ledger& ledger,
    const QueueTree& tree);

}  // namespace trainyard::core
