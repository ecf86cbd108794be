#pragma once

#include <vector>

#include "core/ledger/pod_groups.h"
#include "core/queues/cluster_capacity.h"
#include "model/gang.h"
#include "model/job.h"

namespace trainyard::core {

// What jobs and pods hold, by quota dimension.

// The demand of the whole gang without types of GPUs, which depend on the nodes.
[[nodiscard]] Amounts demandOf(const ClusterCapacity& capacity, const model::Job& job);
// `demand`, of this job, with what members without GPUs would hold beside GPUs on nodes that have some.
[[nodiscard]] Amounts demandOnGpuNodes(const ClusterCapacity& capacity, const model::Job& job,
                                       Amounts demand);
// What members on these nodes hold, including types of GPUs.
[[nodiscard]] Amounts heldBy(const ClusterCapacity& capacity, const model::Job& job,
                             const std::vector<model::Assignment>& assignments);
// What the job holds by its record, placed and proposed.
[[nodiscard]] Amounts holdingsOf(const ClusterCapacity& capacity, const model::Job& job);
// What the pod holds on its node.
[[nodiscard]] Amounts heldBy(const ClusterCapacity& capacity, const model::Pod& pod);
// What those of the pods hold that are bound and have not ended.
[[nodiscard]] Amounts heldBy(const ClusterCapacity& capacity, const JobPods& pods);
// As above, for the job's members among the pods. Other pods that name the job do not count: users may write
// any job's name into their pods.
[[nodiscard]] Amounts heldByMembers(const ClusterCapacity& capacity, const model::Job& job,
                                    const JobPods& pods);
// What of these holdings the ledger still counts: not that of members that have succeeded. The place of
// another member stays used until the record is cleared, even if its pod has failed or is gone.
[[nodiscard]] Amounts withoutSucceeded(const ClusterCapacity& capacity, Amounts recorded,
                                       const model::Job& job, const JobPods& pods);
// What the job's members hold beyond its record.
[[nodiscard]] Amounts leavingOf(const ClusterCapacity& capacity, const model::Job& job, const JobPods& pods);

}  // namespace trainyard::core
