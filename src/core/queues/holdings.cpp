#include "core/queues/holdings.h"

#include <algorithm>
#include <iterator>

#include "core/ledger/members.h"
#include "model/charge.h"
#include "model/gang_size.h"

namespace trainyard::core {
namespace {

void addHeldOn(const ClusterCapacity& capacity, const model::NodeName& node, const model::Resources& requests,
               std::int64_t count, std::optional<std::size_t> type, Amounts& into) {
  capacity.dimensions().addRequests(requests, count, into);
  if (capacity.countsGpuNode(node)) capacity.dimensions().addGpuNodeRequests(requests, count, into);
  if (!type) return;
  const std::int64_t gpus = base::saturatingMultiply(requests.gpus(), count);
  into[*type] = base::saturatingAdd(into[*type], gpus);
}

}  // namespace

Amounts demandOf(const ClusterCapacity& capacity, const model::Job& job) {
  const QuotaDimensions& dimensions = capacity.dimensions();
  Amounts amounts = dimensions.none();
  for (const model::Role& role : job.spec.roles) {
    const std::int64_t members = model::gangMembers(job, role);
    dimensions.addRequests(role.shape.requests, members, amounts);
    // For members without GPUs it depends on the nodes, unless all nodes have GPUs.
    if (role.shape.requests.gpus() > 0 || !capacity.hasNodesWithoutGpus())
      dimensions.addGpuNodeRequests(role.shape.requests, members, amounts);
  }
  return amounts;
}

Amounts demandOnGpuNodes(const ClusterCapacity& capacity, const model::Job& job, Amounts demand) {
  if (!capacity.hasNodesWithoutGpus()) return demand;
  for (const model::Role& role : job.spec.roles) {
    if (role.shape.requests.gpus() <= 0)
      capacity.dimensions().addGpuNodeRequests(role.shape.requests, model::gangMembers(job, role), demand);
  }
  return demand;
}

Amounts heldBy(const ClusterCapacity& capacity, const model::Job& job,
               const std::vector<model::Assignment>& assignments) {
  Amounts amounts = capacity.dimensions().none();
  for (const model::Assignment& each : assignments) {
    const model::Resources* requests = model::chargedRequests(job, each.role);
    if (requests == nullptr) continue;
    // The recorded type counts even if the node's label has changed.
    const auto type =
        each.gpuType.empty() ? capacity.typeOf(each.node) : capacity.dimensions().ofType(each.gpuType);
    addHeldOn(capacity, each.node, *requests, static_cast<std::int64_t>(each.indices.size()), type, amounts);
  }
  return amounts;
}

// A proposal that removes and adds ends with the latter. Until then its pods may be on either side, which
// the ledger counts. Quotas count the final state.
Amounts holdingsOf(const ClusterCapacity& capacity, const model::Job& job) {
  const model::GangRecord& gang = job.status.gang;
  if (gang.placed && !gang.proposal) return heldBy(capacity, job, gang.placed->assignments);
  Amounts amounts = capacity.dimensions().none();
  if (gang.placed) addTo(amounts, heldBy(capacity, job, gang.placed->assignments));
  if (gang.proposal) {
    addTo(amounts, negated(heldBy(capacity, job, gang.proposal->remove)));
    addTo(amounts, heldBy(capacity, job, gang.proposal->add));
  }
  for (std::int64_t& amount : amounts) amount = std::max<std::int64_t>(amount, 0);
  return amounts;
}

Amounts heldBy(const ClusterCapacity& capacity, const model::Pod& pod) {
  Amounts amounts = capacity.dimensions().none();
  addHeldOn(capacity, pod.node, pod.shape.requests, 1, capacity.typeOf(pod.node), amounts);
  return amounts;
}

Amounts heldBy(const ClusterCapacity& capacity, const JobPods& pods) {
  Amounts amounts = capacity.dimensions().none();
  for (const auto& pod : pods) {
    if (!pod->bound() || pod->finished()) continue;
    addHeldOn(capacity, pod->node, pod->shape.requests, 1, capacity.typeOf(pod->node), amounts);
  }
  return amounts;
}

Amounts heldByMembers(const ClusterCapacity& capacity, const model::Job& job, const JobPods& pods) {
  JobPods members;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(members),
               [&](const auto& pod) { return wasMember(*pod, job); });
  return heldBy(capacity, members);
}

Amounts withoutSucceeded(const ClusterCapacity& capacity, Amounts recorded, const model::Job& job,
                         const JobPods& pods) {
  for (const auto& pod : pods) {
    if (pod->bound() && pod->phase == model::PodPhase::kSucceeded && wasMember(*pod, job))
      addTo(recorded, negated(heldBy(capacity, *pod)));
  }
  for (std::int64_t& amount : recorded) amount = std::max<std::int64_t>(amount, 0);
  return recorded;
}

Amounts leavingOf(const ClusterCapacity& capacity, const model::Job& job, const JobPods& pods) {
  Amounts amounts = heldByMembers(capacity, job, pods);
  if (job.finished()) return amounts;
  const Amounts recorded = holdingsOf(capacity, job);
  for (std::size_t d = 0; d < amounts.size(); ++d)
    amounts[d] = std::max<std::int64_t>(base::saturatingSubtract(amounts[d], recorded[d]), 0);
  return amounts;
}

}  // namespace trainyard::core
