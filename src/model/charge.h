#pragma once

#include "model/gang.h"
#include "model/job.h"

// As whose and as what a job's places are charged. Whoever asks for what a gang holds asks here; of one that
// holds nothing, its spec says what it will be.
namespace trainyard::model {

// By the record, else what the spec says; which queue the default one is for a job that waits is told by
// core's QueueTree::queueNameOf().
[[nodiscard]] const QueueName& chargedQueue(const Job& job);
// For display: of a pending job the queue that its status names.
[[nodiscard]] const QueueName& shownQueue(const Job& job);
[[nodiscard]] bool chargedPreemptible(const Job& job);
// Of one member; nullptr for a role that neither record nor spec has.
[[nodiscard]] const Resources* chargedRequests(const Job& job, std::string_view role);
[[nodiscard]] const Resources* chargedRequests(const JobSpec& spec, const GangRecord& record,
                                               std::string_view role);

// The condition under which the job was backfilled on capacity that is reserved for `holder`; nullptr: none.
[[nodiscard]] const Charge::Backfill* backfillCondition(const Job& job, const Job& holder);

// What a gang of this spec is to be charged as.
[[nodiscard]] Charge makeCharge(const JobSpec& spec, QueueName queue, int priority);

// Whether a gang that is placed could start anew with its spec as it is now and be the same gang to its
// queue: charged to `queue`, with as many members that ask for no more. Else it has to wait as any other.
[[nodiscard]] bool sameToItsQueue(const Job& job, const QueueName& queue);

}  // namespace trainyard::model
