#include "core/queues/queue_tree.h"

#include <algorithm>

#include "core/queues/holdings.h"
#include "core/queues/queue_tree_builder.h"
#include "model/charge.h"
#include "model/names.h"

namespace trainyard::core {

QueueTree::QueueTree(const model::Snapshot& snapshot) {
  QueueCache cache;
  *this = QueueTree(snapshot, cache);
}

QueueTree::QueueTree(const model::Snapshot& snapshot, QueueCache& cache) {
  *this = QueueTreeBuilder(snapshot, cache).build();
}

std::optional<QueueTree::Index> QueueTree::find(const model::QueueName& name) const {
  const auto found = byName_.find(name);
  if (found == byName_.end() || found->second == kCluster) return std::nullopt;
  return found->second;
}

const model::QueueName& QueueTree::queueNameOf(const model::Job& job) const {
  return job.status.gang.charge ? job.status.gang.charge->queue : requestedQueueOf(job);
}

const model::QueueName& QueueTree::requestedQueueOf(const model::Job& job) const {
  if (job.spec.queue.str() != model::names::kDefaultQueue) return job.spec.queue;
  const auto named = defaultOf_.find(job.key.ns);
  return named == defaultOf_.end() ? job.spec.queue : named->second;
}

QueueTree::Index QueueTree::queueOf(const model::Job& job) const {
  const model::QueueName& name = queueNameOf(job);
  if (const auto found = find(name)) return *found;
  if (!job.status.gang.charge) return kCluster;
  const auto deleted = deleted_.find(name);
  return deleted == deleted_.end() ? kCluster : deleted->second;
}

QueueTree::Branches QueueTree::branches(Index a, Index b) const {
  const auto& pathA = nodes_[a].path;
  const auto& pathB = nodes_[b].path;
  std::size_t depth = 0;
  while (depth < pathA.size() && depth < pathB.size() && pathA[depth] == pathB[depth]) ++depth;
  return {depth < pathA.size() ? pathA[depth] : a, depth < pathB.size() ? pathB[depth] : b};
}

void QueueTree::charge(Index queue, const Amounts& amounts, bool nonPreemptible) {
  ++version_;
  addTo(nodes_[queue].ownUsage, amounts);
  if (nonPreemptible) addTo(nodes_[queue].nonPreemptible, amounts);
  addTo(nodes_[kCluster].usage, amounts);
  for (const Index at : nodes_[queue].path) {
    addTo(nodes_[at].usage, amounts);
    addTo(nodes_[at].averaged, amounts);
  }
}

void QueueTree::discharge(Index queue, const Amounts& amounts, bool nonPreemptible) {
  charge(queue, negated(amounts), nonPreemptible);
}

void QueueTree::chargeLeaving(Index queue, const Amounts& amounts) {
  for (const Index at : nodes_[queue].path) addTo(nodes_[at].leaving, amounts);
}

void QueueTree::endHoldings(const model::Job& job, const JobPods& pods) {
  const Index queue = queueOf(job);
  const Amounts recorded = holdingsOf(*capacity_, job);
  // What they hold beyond the record is charged as leaving already.
  const Amounts held = withoutSucceeded(*capacity_, recorded, job, pods);
  const bool isNonPreemptible = !model::chargedPreemptible(job);
  discharge(queue, recorded, isNonPreemptible);
  // Until its pods are gone, other jobs that cannot be preempted must leave the guarantees the rest.
  if (isNonPreemptible) addTo(nodes_[queue].nonPreemptible, held);
  chargeLeaving(queue, held);
}

void QueueTree::markLeaving(Index queue, const Amounts& amounts) {
  discharge(queue, amounts, false);
  chargeLeaving(queue, amounts);
}

void QueueTree::unmarkLeaving(Index queue, const Amounts& amounts) {
  charge(queue, amounts, false);
  chargeLeaving(queue, negated(amounts));
}

void QueueTree::noteWaiting(Index queue, const Amounts& demand) {
  for (const Index at : nodes_[queue].path) {
    auto& smallest = nodes_[at].smallestPending;
    if (!smallest) {
      smallest = demand;
      continue;
    }
    for (std::size_t d = 0; d < demand.size(); ++d) (*smallest)[d] = std::min((*smallest)[d], demand[d]);
  }
}

}  // namespace trainyard::core
