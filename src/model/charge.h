#pragma once

#include "model/gang.h"
#include "model/job.h"

// The queue, priority and requests that a job is charged with. Code that needs what a gang holds reads it
// here; a gang that holds nothing is charged by its spec.
namespace trainyard::model {

// The queue by the record, else by the spec. For a pending job, core's QueueTree::queueNameOf() resolves the
// default queue.
[[nodiscard]] const QueueName& chargedQueue(const Job& job);
// For display: a pending job shows the queue in its status.
[[nodiscard]] const QueueName& shownQueue(const Job& job);
[[nodiscard]] bool chargedPreemptible(const Job& job);
// The requests of one member; nullptr for a role that neither record nor spec has.
[[nodiscard]] const Resources* chargedRequests(const Job& job, std::string_view role);
[[nodiscard]] const Resources* chargedRequests(const JobSpec& spec, const GangRecord& record,
                                               std::string_view role);

// The condition under which the job was backfilled on capacity that is reserved for `holder`; nullptr: none.
[[nodiscard]] const Charge::Backfill* backfillCondition(const Job& job, const Job& holder);

// Returns the charge for a gang of this spec.
[[nodiscard]] Charge makeCharge(const JobSpec& spec, QueueName queue, int priority);

// Returns true if a placed gang could restart with its current spec without a change for its queue: charged
// to `queue`, with as many members that request no more. Otherwise it has to wait as any other job.
[[nodiscard]] bool sameCharge(const Job& job, const QueueName& queue);

}  // namespace trainyard::model
