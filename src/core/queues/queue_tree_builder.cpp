#include "core/queues/queue_tree_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/ledger/list_changes.h"
#include "core/ledger/members.h"
#include "core/queues/decayed_usage.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/namespaces.h"
#include "model/charge.h"
#include "model/member_of.h"
#include "model/names.h"

namespace trainyard::core {

QueueTreeBuilder::QueueTreeBuilder(const model::Snapshot& snapshot, QueueCache& cache)
    : snapshot_(snapshot), cache_(cache), tree_(cache.capacityOf(snapshot)) {}

QueueTree QueueTreeBuilder::build() {
  readQueues();
  readNamespaces();
  readCoverage();
  readJobs();
  if (snapshot_.policy.chargeOtherPods) readOtherPods();
  averageUsage();
  return std::move(tree_);
}

void QueueTreeBuilder::readQueues() {
  const auto add = [&](std::string name) -> Node& {
    tree_.byName_.emplace(model::QueueName(name), tree_.nodes_.size());
    return addNode(std::move(name));
  };
  add("");
  for (const auto& queue : snapshot_.queues) {
    Node& node = add(queue->name.str());
    node.queue = &queue;
    node.weight = std::max<std::int64_t>(queue->weight, 1);
    node.guaranteed = tree_.dimensions().amountsOf(queue->guaranteed, 0);
    node.limit = tree_.dimensions().amountsOf(queue->limit, QueueTree::kNoLimit);
    if (!queue->specError.empty()) {
      node.problemReason = "InvalidSpec";
      node.problem = queue->specError;
    }
  }
  if (const std::string name(model::names::kDefaultQueue); !tree_.byName_.contains(model::QueueName(name)))
    add(name);
  findPaths();
  raiseGuarantees(QueueTree::kCluster);
}

QueueTree::Node& QueueTreeBuilder::addNode(std::string name) {
  const Amounts none = tree_.dimensions().none();
  tree_.nodes_.push_back({.name = std::move(name),
                          .guaranteed = none,
                          .covered = none,
                          .coveredAtMost = none,
                          .limit = Amounts(none.size(), QueueTree::kNoLimit),
                          .usage = none,
                          .ownUsage = none,
                          .averaged = none,
                          .nonPreemptible = none,
                          .leaving = none});
  return tree_.nodes_.back();
}

// A queue with a missing parent or a cycle of parents is placed directly below the cluster and
// marked. What its running jobs hold is counted there.
void QueueTreeBuilder::findPaths() {
  auto& nodes = tree_.nodes_;
  for (Index i = 1; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    if (node.queue == nullptr) continue;
    const model::Queue* at = node.queue->get();
    std::set<model::QueueName> seen = {at->name};
    while (!at->parent.empty() && node.problem.empty()) {
      const auto parent = tree_.byName_.find(at->parent);
      if (parent == tree_.byName_.end() || nodes[parent->second].queue == nullptr) {
        node.problemReason = "ParentNotFound";
        node.problem = fmt::format("spec.parent: there is no Queue named \"{}\"", at->parent);
      } else if (!seen.insert(at->parent).second) {
        node.problemReason = "ParentCycle";
        node.problem = fmt::format("spec.parent: queue {} is above itself", at->parent);
      } else {
        at = nodes[parent->second].queue->get();
      }
    }
    if (node.problem.empty() && !node.queue->get()->parent.empty())
      node.parent = tree_.byName_.find(node.queue->get()->parent)->second;
  }
  for (Index i = 1; i < nodes.size(); ++i) {
    nodes[nodes[i].parent].children.push_back(i);
    for (Index at = i; at != QueueTree::kCluster; at = nodes[at].parent)
      nodes[i].path.insert(nodes[i].path.begin(), at);
  }
}

void QueueTreeBuilder::raiseGuarantees(Index index) {
  Amounts below = tree_.dimensions().none();
  for (const Index child : tree_.nodes_[index].children) {
    raiseGuarantees(child);
    addTo(below, tree_.nodes_[child].guaranteed);
  }
  Amounts& guaranteed = tree_.nodes_[index].guaranteed;
  for (std::size_t d = 0; d < below.size(); ++d) guaranteed[d] = std::max(guaranteed[d], below[d]);
  // A guarantee of GPUs by type is one of as many GPUs. If several
  // resources are GPUs, a type does not name its resource.
  const QuotaDimensions& dimensions = tree_.dimensions();
  if (dimensions.cpu() != 1) return;
  std::int64_t typed = 0;
  for (std::size_t d = dimensions.firstType(); d < dimensions.firstGpuNodeResource(); ++d)
    typed = base::saturatingAdd(typed, guaranteed[d]);
  guaranteed[0] = std::max(guaranteed[0], typed);
}

void QueueTreeBuilder::readNamespaces() {
  for (const auto& space : snapshot_.namespaces) {
    if (const std::string* named = defaultQueueOf(*space))
      tree_.defaultOf_.emplace(space->name, model::QueueName(*named));
  }
}

void QueueTreeBuilder::readCoverage() {
  const GuaranteeShares shares(tree_);
  for (Index i = 0; i < tree_.nodes_.size(); ++i) {
    Coverage coverage = coverageOf(tree_, shares, i);
    tree_.nodes_[i].covered = std::move(coverage.inProportion);
    tree_.nodes_[i].coveredAtMost = std::move(coverage.atMost);
  }
}

void QueueTreeBuilder::readJobs() {
  forEachChange(cache_.jobs_, snapshot_.jobs, [&](const auto& before, const auto& after) {
    if (before) addHeld(*before, -1);
    if (after) addHeld(*after, 1);
  });
  cache_.jobs_ = snapshot_.jobs;
  std::erase_if(cache_.held_, [](const auto& entry) { return entry.second.jobs == 0; });
  for (const auto& [key, held] : cache_.held_) {
    if (!tree_.find(key.first) && held.isCharged) addDeleted(key.first, held.ancestors);
  }
  for (const auto& [key, held] : cache_.held_) {
    const auto deleted = tree_.deleted_.find(key.first);
    const Index substitute = deleted == tree_.deleted_.end() ? QueueTree::kCluster : deleted->second;
    const Index queue = tree_.find(key.first).value_or(substitute);
    Amounts amounts = tree_.dimensions().none();
    for (std::size_t d = 0; d < amounts.size(); ++d) {
      amounts[d] =
          static_cast<std::int64_t>(std::min<QueueCache::Held::Sum>(held.amounts[d], QueueTree::kNoLimit));
    }
    tree_.charge(queue, amounts, key.second);
    tree_.nodes_[queue].admitted += static_cast<int>(held.jobs);
  }
}

void QueueTreeBuilder::addHeld(const model::Job& job, int sign) {
  const model::GangRecord& gang = job.status.gang;
  if ((!gang.placed && !gang.proposal) || job.finished()) return;
  QueueCache::Held& held = cache_.held_[{model::chargedQueue(job), !model::chargedPreemptible(job)}];
  held.amounts.resize(tree_.dimensions().size(), 0);
  held.jobs += sign;
  if (gang.charge && sign > 0) {
    held.isCharged = true;
    held.ancestors = gang.charge->ancestors;
  }
  const Amounts amounts = holdingsOf(tree_.capacity(), job);
  for (std::size_t d = 0; d < amounts.size(); ++d)
    held.amounts[d] += static_cast<QueueCache::Held::Sum>(sign) * amounts[d];
}

void QueueTreeBuilder::addDeleted(const model::QueueName& name,
                                  const std::vector<model::QueueName>& ancestors) {
  const Index index = tree_.nodes_.size();
  if (!tree_.deleted_.emplace(name, index).second) return;
  Index parent = QueueTree::kCluster;
  for (const model::QueueName& each : ancestors) {
    parent = tree_.find(each).value_or(QueueTree::kCluster);
    if (parent != QueueTree::kCluster) break;
  }
  std::vector<Index> path = tree_.nodes_[parent].path;
  path.push_back(index);
  Node& node = addNode(name.str());
  node.parent = parent;
  node.path = std::move(path);
  tree_.nodes_[parent].children.push_back(index);
}

void QueueTreeBuilder::readOtherPods() {
  std::map<std::string, std::optional<Index>> queueOf;
  std::unordered_map<std::string_view, const model::Job*> jobs;
  for (const auto& job : snapshot_.jobs) jobs.emplace(job->uid.str(), job.get());
  for (const auto& pod : snapshot_.pods) {
    if (!pod->bound() || pod->finished() || pod->shape.requests.gpus() <= 0) continue;
    // Pods of a deleted job, and pods that only claim to belong to a job, are not charged to any job.
    if (model::claimsGang(*pod)) {
      const auto owner = jobs.find(model::gangUidOf(*pod).str());
      if (owner != jobs.end() && wasMember(*pod, *owner->second)) continue;
    }
    const auto [known, isNew] = queueOf.try_emplace(pod->key.ns);
    if (isNew) known->second = queueOfNamespace(pod->key.ns);
    if (known->second) tree_.charge(*known->second, heldBy(tree_.capacity(), *pod), true);
  }
}

std::optional<QueueTree::Index> QueueTreeBuilder::queueOfNamespace(const std::string& ns) const {
  for (Index i = 1; i < tree_.nodes_.size(); ++i) {
    const auto* queue = tree_.nodes_[i].queue;
    if (queue == nullptr || (*queue)->namespaceSelector.requirements.empty()) continue;
    if (namespaceAllowed(**queue, ns, snapshot_)) return i;
  }
  return std::nullopt;
}

void QueueTreeBuilder::averageUsage() {
  const auto& halfLife = snapshot_.policy.usageHalfLife;
  const QuotaDimensions& dimensions = tree_.dimensions();
  for (Node& node : tree_.nodes_) {
    node.averaged = node.usage;
    if (!halfLife || node.queue == nullptr || !(*node.queue)->status.decayedAt) continue;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const std::int64_t decayed =
          decayedUsage((*node.queue)->status, dimensions.names()[d], node.usage[d], snapshot_.now, *halfLife);
      node.averaged[d] = averageUse(decayed, *halfLife);
    }
  }
}

}  // namespace trainyard::core
