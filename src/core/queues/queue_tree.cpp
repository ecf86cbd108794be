#include "core/queues/queue_tree.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/ledger/list_changes.h"
#include "core/ledger/members.h"
#include "core/queues/decayed_usage.h"
#include "core/queues/guarantee.h"
#include "core/queues/namespaces.h"
#include "model/charge.h"
#include "model/gang_size.h"
#include "model/gpu_resources.h"
#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

using Amounts = QueueTree::Amounts;
using Index = QueueTree::Index;

// Users may write any job's name into their pods: only members count as what the job leaves behind.
JobPods membersAmong(const JobPods& pods, const model::Job& job) {
  JobPods members;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(members),
               [&](const auto& pod) { return wasMember(*pod, job); });
  return members;
}

std::int64_t amountIn(const model::Resources& requests, const std::string& name) {
  if (name == "cpu") return requests.cpu.value;
  if (name == "memory") return requests.memory.value;
  if (name == "ephemeral-storage") return requests.ephemeralStorage.value;
  if (name == "pods") return requests.pods;
  return requests.extended(name);
}

bool guaranteesGpus(const model::Snapshot& snapshot) {
  return std::any_of(snapshot.queues.begin(), snapshot.queues.end(), [](const auto& queue) {
    const auto& entries = queue->guaranteed.entries();
    return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
      const auto& gpus = model::gpuResources();
      const bool isGpu = std::find(gpus.begin(), gpus.end(), entry.first) != gpus.end();
      return entry.second > 0 && (isGpu || entry.first.starts_with(model::kGpuTypePrefix));
    });
  });
}

}  // namespace

QueueTree::QueueTree(const model::Snapshot& snapshot) {
  QueueCache cache;
  *this = QueueTree(snapshot, cache);
}

QueueTree::QueueTree(const model::Snapshot& snapshot, QueueCache& cache) {
  nameDimensions(snapshot);
  nameGpuNodeResources(snapshot, cache);
  readQueues(snapshot);
  readNamespaces(snapshot);
  readCapacity(snapshot, cache);
  for (Index i = 0; i < nodes_.size(); ++i) {
    Coverage coverage = coverageOf(*this, i);
    nodes_[i].covered = std::move(coverage.inProportion);
    nodes_[i].coveredAtMost = std::move(coverage.atMost);
  }
  readJobs(snapshot, cache);
  if (snapshot.policy.chargeOtherPods) readOtherPods(snapshot);
  averageUsage(snapshot);
}

void QueueTree::nameDimensions(const model::Snapshot& snapshot) {
  std::set<std::string> others;
  std::set<std::string> types;
  std::set<std::string> guaranteed;
  for (const auto& queue : snapshot.queues) {
    for (const auto* quota : {&queue->guaranteed, &queue->limit}) {
      for (const auto& [name, amount] : quota->entries()) {
        (name.starts_with(model::kGpuTypePrefix) ? types : others).insert(name);
        if (quota == &queue->guaranteed) guaranteed.insert(name);
      }
    }
  }
  dimensions_ = model::gpuResources();
  cpu_ = dimensions_.size();
  dimensions_.insert(dimensions_.end(), {"cpu", "memory"});
  for (const std::string& name : dimensions_) others.erase(name);
  dimensions_.insert(dimensions_.end(), others.begin(), others.end());
  firstType_ = dimensions_.size();
  dimensions_.insert(dimensions_.end(), types.begin(), types.end());
  counts_.assign(dimensions_.size(), 0);
  for (std::size_t i = 0; i < dimensions_.size(); ++i)
    counts_[i] = guaranteed.contains(dimensions_[i]) ? 1 : 0;
  std::fill_n(counts_.begin(), cpu_, char{1});
  if (guaranteed.empty()) counts_[cpu_] = counts_[cpu_ + 1] = 1;
}

// Only if some queue is guaranteed GPUs. A resource that a quota names is beside GPUs, too: what the quota
// admits may be on any node.
void QueueTree::nameGpuNodeResources(const model::Snapshot& snapshot, QueueCache& cache) {
  firstGpuNodeResource_ = dimensions_.size();
  // The nodes may change while no queue is guaranteed GPUs: the cached list would be stale.
  if (!guaranteesGpus(snapshot)) return cache.gpuNodes_.reset();
  if (!cache.gpuNodes_ || !cache.nodes_.isSameAs(snapshot.nodes)) {
    std::set<std::string> names{"cpu", "memory", "ephemeral-storage", "pods"};
    std::set<model::NodeName> nodes;
    for (const auto& node : snapshot.nodes) {
      if (node->allocatable.gpus() <= 0) continue;
      nodes.insert(node->name);
      for (const auto& [name, amount] : node->allocatable.extendedAll()) names.insert(name);
    }
    for (const std::string& gpus : model::gpuResources()) names.erase(gpus);
    cache.gpuNodeResources_.assign(names.begin(), names.end());
    if (!cache.gpuNodes_ || *cache.gpuNodes_ != nodes)
      cache.gpuNodes_ = std::make_shared<const std::set<model::NodeName>>(std::move(nodes));
  }
  gpuNodes_ = cache.gpuNodes_;
  dimensions_.insert(dimensions_.end(), cache.gpuNodeResources_.begin(), cache.gpuNodeResources_.end());
  counts_.resize(dimensions_.size(), 0);
}

Amounts QueueTree::amountsOf(const model::Quota& quota, std::int64_t absent) const {
  Amounts amounts(dimensions_.size(), absent);
  for (std::size_t i = 0; i < firstGpuNodeResource_; ++i) {
    if (const auto amount = quota.find(dimensions_[i])) amounts[i] = *amount;
  }
  return amounts;
}

void QueueTree::readQueues(const model::Snapshot& snapshot) {
  const auto add = [&](std::string name) -> Node& {
    byName_.emplace(model::QueueName(name), nodes_.size());
    return addNode(std::move(name));
  };
  add("");
  for (const auto& queue : snapshot.queues) {
    Node& node = add(queue->name.str());
    node.queue = &queue;
    node.weight = std::max<std::int64_t>(queue->weight, 1);
    node.guaranteed = amountsOf(queue->guaranteed, 0);
    node.limit = amountsOf(queue->limit, kNoLimit);
    if (!queue->specError.empty()) {
      node.problemReason = "InvalidSpec";
      node.problem = queue->specError;
    }
  }
  if (!byName_.contains(model::QueueName(std::string(model::names::kDefaultQueue)))) {
    add(std::string(model::names::kDefaultQueue));
  }
  findPaths();
  raiseGuarantees(kCluster);
}

QueueTree::Node& QueueTree::addNode(std::string name) {
  const Amounts none(dimensions_.size(), 0);
  nodes_.push_back({.name = std::move(name),
                    .guaranteed = none,
                    .covered = none,
                    .coveredAtMost = none,
                    .limit = Amounts(dimensions_.size(), kNoLimit),
                    .usage = none,
                    .ownUsage = none,
                    .averaged = none,
                    .nonPreemptible = none,
                    .leaving = none});
  return nodes_.back();
}

void QueueTree::addDeleted(const model::QueueName& name, const std::vector<model::QueueName>& ancestors) {
  const Index index = nodes_.size();
  if (!deleted_.emplace(name, index).second) return;
  Index parent = kCluster;
  for (const model::QueueName& each : ancestors) {
    parent = find(each).value_or(kCluster);
    if (parent != kCluster) break;
  }
  std::vector<Index> path = nodes_[parent].path;
  path.push_back(index);
  addNode(name.str());
  nodes_[index].parent = parent;
  nodes_[index].path = std::move(path);
  nodes_[parent].children.push_back(index);
}

Index QueueTree::queueOf(const model::Job& job) const {
  const model::QueueName& name = queueNameOf(job);
  if (const auto found = find(name)) return *found;
  if (!job.status.gang.charge) return kCluster;
  const auto deleted = deleted_.find(name);
  return deleted == deleted_.end() ? kCluster : deleted->second;
}

void QueueTree::readNamespaces(const model::Snapshot& snapshot) {
  for (const auto& space : snapshot.namespaces) {
    if (const std::string* named = defaultQueueOf(*space))
      defaultOf_.emplace(space->name, model::QueueName(*named));
  }
}

// A queue with a missing parent or a cycle of parents is placed directly below the cluster and
// marked. What its running jobs hold is counted there.
void QueueTree::findPaths() {
  for (Index i = 1; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (node.queue == nullptr) continue;
    const model::Queue* at = node.queue->get();
    std::set<model::QueueName> seen = {at->name};
    while (!at->parent.empty() && node.problem.empty()) {
      const auto parent = byName_.find(at->parent);
      if (parent == byName_.end() || nodes_[parent->second].queue == nullptr) {
        node.problemReason = "ParentNotFound";
        node.problem = fmt::format("spec.parent: there is no Queue named \"{}\"", at->parent);
      } else if (!seen.insert(at->parent).second) {
        node.problemReason = "ParentCycle";
        node.problem = fmt::format("spec.parent: queue {} is above itself", at->parent);
      } else {
        at = nodes_[parent->second].queue->get();
      }
    }
    if (node.problem.empty() && !node.queue->get()->parent.empty()) {
      node.parent = byName_.find(node.queue->get()->parent)->second;
    }
  }
  for (Index i = 1; i < nodes_.size(); ++i) {
    nodes_[nodes_[i].parent].children.push_back(i);
    for (Index at = i; at != kCluster; at = nodes_[at].parent)
      nodes_[i].path.insert(nodes_[i].path.begin(), at);
  }
}

void QueueTree::raiseGuarantees(Index index) {
  Amounts below(dimensions_.size(), 0);
  for (const Index child : nodes_[index].children) {
    raiseGuarantees(child);
    for (std::size_t d = 0; d < below.size(); ++d) {
      below[d] = base::saturatingAdd(below[d], nodes_[child].guaranteed[d]);
    }
  }
  Amounts& guaranteed = nodes_[index].guaranteed;
  for (std::size_t d = 0; d < below.size(); ++d) guaranteed[d] = std::max(guaranteed[d], below[d]);
  // A guarantee of GPUs by type is one of as many GPUs. If several
  // resources are GPUs, a type does not name its resource.
  if (cpu_ != 1) return;
  std::int64_t typed = 0;
  for (std::size_t d = firstType_; d < firstGpuNodeResource_; ++d)
    typed = base::saturatingAdd(typed, guaranteed[d]);
  guaranteed[0] = std::max(guaranteed[0], typed);
}

void QueueTree::readCapacity(const model::Snapshot& snapshot, QueueCache& cache) {
  const bool sameDimensions = cache.dimensions_ == dimensions_;
  const bool same = cache.typeOf_ && sameDimensions && cache.nodes_.isSameAs(snapshot.nodes) &&
                    cache.gpuTypeLabel_ == snapshot.policy.gpuTypeLabel;
  if (!same) {
    cache.dimensions_ = dimensions_;
    cache.gpuTypeLabel_ = snapshot.policy.gpuTypeLabel;
    cache.nodes_ = snapshot.nodes;
    auto types = typesOfNodes(snapshot);
    // If no input of the amounts has changed, the sums of the jobs stay valid.
    if (!sameDimensions || !cache.typeOf_ || *cache.typeOf_ != types || cache.heldGpuNodes_ != gpuNodes_) {
      cache.held_.clear();
      cache.jobs_ = {};
    }
    cache.heldGpuNodes_ = gpuNodes_;
    cache.typeOf_ = std::make_shared<const std::map<model::NodeName, std::size_t>>(std::move(types));
    cache.capacity_ = capacityOf(snapshot, *cache.typeOf_, false);
    cache.installed_ = capacityOf(snapshot, *cache.typeOf_, true);
    cache.mostPerGpu_ = mostPerGpuOf(snapshot);
  }
  typeOf_ = cache.typeOf_;
  capacity_ = cache.capacity_;
  installed_ = cache.installed_;
  mostPerGpu_ = cache.mostPerGpu_;
}

Amounts QueueTree::mostPerGpuOf(const model::Snapshot& snapshot) const {
  constexpr std::int64_t kPermille = 1'000;
  Amounts most(dimensions_.size() - firstGpuNodeResource_, 0);
  for (const auto& node : snapshot.nodes) {
    const std::int64_t gpus = node->allocatable.gpus();
    if (gpus <= 0) continue;
    for (std::size_t d = firstGpuNodeResource_; d < dimensions_.size(); ++d) {
      const std::int64_t each = base::scaledUp(amountIn(node->allocatable, dimensions_[d]), kPermille, gpus);
      most[d - firstGpuNodeResource_] = std::max(most[d - firstGpuNodeResource_], each);
    }
  }
  return most;
}

std::map<model::NodeName, std::size_t> QueueTree::typesOfNodes(const model::Snapshot& snapshot) const {
  std::map<model::NodeName, std::size_t> types;
  if (!namesTypes()) return types;
  for (const auto& node : snapshot.nodes) {
    const std::string* label = node->labels.find(snapshot.policy.gpuTypeLabel);
    if (label == nullptr) continue;
    const auto known = std::find(dimensions_.begin() + static_cast<std::ptrdiff_t>(firstType_),
                                 dimensions_.end(), std::string(model::kGpuTypePrefix) + *label);
    if (known != dimensions_.end())
      types.emplace(node->name, static_cast<std::size_t>(known - dimensions_.begin()));
  }
  return types;
}

Amounts QueueTree::capacityOf(const model::Snapshot& snapshot,
                              const std::map<model::NodeName, std::size_t>& types, bool includeClosed) const {
  Amounts capacity(dimensions_.size(), 0);
  for (const auto& node : snapshot.nodes) {
    if (!includeClosed && (!node->ready || node->unschedulable || node->deleting)) continue;
    addRequests(node->allocatable, 1, capacity);
    if (node->allocatable.gpus() > 0) addGpuNodeResources(node->allocatable, 1, capacity);
    if (const auto type = types.find(node->name); type != types.end()) {
      capacity[type->second] = base::saturatingAdd(capacity[type->second], node->allocatable.gpus());
    }
  }
  return capacity;
}

void QueueTree::addRequests(const model::Resources& requests, std::int64_t count, Amounts& into) const {
  const auto add = [&](std::size_t dimension, std::int64_t amount) {
    into[dimension] = base::saturatingAdd(into[dimension], base::saturatingMultiply(amount, count));
  };
  for (std::size_t d = 0; d < cpu_; ++d) add(d, requests.extended(dimensions_[d]));
  add(cpu_, requests.cpu.value);
  add(cpu_ + 1, requests.memory.value);
  for (std::size_t d = cpu_ + 2; d < firstType_; ++d) add(d, amountIn(requests, dimensions_[d]));
}

void QueueTree::addGpuNodeResources(const model::Resources& requests, std::int64_t count,
                                    Amounts& into) const {
  for (std::size_t d = firstGpuNodeResource_; d < dimensions_.size(); ++d) {
    const std::int64_t amount = base::saturatingMultiply(amountIn(requests, dimensions_[d]), count);
    into[d] = base::saturatingAdd(into[d], amount);
  }
}

void QueueTree::readJobs(const model::Snapshot& snapshot, QueueCache& cache) {
  forEachChange(cache.jobs_, snapshot.jobs, [&](const auto& before, const auto& after) {
    if (before) addHeld(*before, -1, cache);
    if (after) addHeld(*after, 1, cache);
  });
  cache.jobs_ = snapshot.jobs;
  std::erase_if(cache.held_, [](const auto& entry) { return entry.second.jobs == 0; });
  for (const auto& [key, held] : cache.held_) {
    if (!find(key.first) && held.isCharged) addDeleted(key.first, held.ancestors);
  }
  for (const auto& [key, held] : cache.held_) {
    const auto deleted = deleted_.find(key.first);
    const Index queue = find(key.first).value_or(deleted == deleted_.end() ? kCluster : deleted->second);
    Amounts amounts(dimensions_.size(), 0);
    for (std::size_t d = 0; d < amounts.size(); ++d) {
      amounts[d] = static_cast<std::int64_t>(std::min<QueueCache::Held::Sum>(held.amounts[d], kNoLimit));
    }
    charge(queue, amounts, key.second);
    nodes_[queue].admitted += static_cast<int>(held.jobs);
  }
}

void QueueTree::addHeld(const model::Job& job, int sign, QueueCache& cache) const {
  const model::GangRecord& gang = job.status.gang;
  if ((!gang.placed && !gang.proposal) || job.finished()) return;
  QueueCache::Held& held = cache.held_[{model::chargedQueue(job), !model::chargedPreemptible(job)}];
  held.amounts.resize(dimensions_.size(), 0);
  held.jobs += sign;
  if (gang.charge && sign > 0) {
    held.isCharged = true;
    held.ancestors = gang.charge->ancestors;
  }
  const Amounts amounts = holdingsOf(job);
  for (std::size_t d = 0; d < amounts.size(); ++d) {
    held.amounts[d] += static_cast<QueueCache::Held::Sum>(sign) * amounts[d];
  }
}

void QueueTree::readOtherPods(const model::Snapshot& snapshot) {
  std::map<std::string, std::optional<Index>> queueOf;
  std::unordered_map<std::string_view, const model::Job*> jobs;
  for (const auto& job : snapshot.jobs) jobs.emplace(job->uid.str(), job.get());
  for (const auto& pod : snapshot.pods) {
    if (!pod->bound() || pod->finished() || pod->shape.requests.gpus() <= 0) continue;
    // Pods of a deleted job, and pods that only claim to belong to a job, are not charged to any job.
    if (pod->controllerKind == model::names::kTrainingJobKind) {
      const auto owner = jobs.find(pod->controllerUid.str());
      if (owner != jobs.end() && wasMember(*pod, *owner->second)) continue;
    }
    const auto [known, isNew] = queueOf.try_emplace(pod->key.ns);
    if (isNew) known->second = queueOfNamespace(pod->key.ns, snapshot);
    if (!known->second) continue;
    Amounts amounts(dimensions_.size(), 0);
    addHeldOn(pod->node, pod->shape.requests, 1, amounts);
    charge(*known->second, amounts, true);
  }
}

std::optional<Index> QueueTree::queueOfNamespace(const std::string& ns,
                                                 const model::Snapshot& snapshot) const {
  for (Index i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].queue == nullptr || (*nodes_[i].queue)->namespaceSelector.requirements.empty()) continue;
    if (namespaceAllowed(**nodes_[i].queue, ns, snapshot)) return i;
  }
  return std::nullopt;
}

void QueueTree::averageUsage(const model::Snapshot& snapshot) {
  const auto& halfLife = snapshot.policy.usageHalfLife;
  for (Node& node : nodes_) {
    node.averaged = node.usage;
    if (!halfLife || node.queue == nullptr || !(*node.queue)->status.decayedAt) continue;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const std::int64_t decayed =
          decayedUsage((*node.queue)->status, dimensions_[d], node.usage[d], snapshot.now, *halfLife);
      node.averaged[d] = averageUse(decayed, *halfLife);
    }
  }
}

std::optional<Index> QueueTree::find(const model::QueueName& name) const {
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

bool QueueTree::hasNodesWithoutGpus() const {
  for (std::size_t d = firstGpuNodeResource_; d < dimensions_.size(); ++d) {
    if (dimensions_[d] == dimensions_[cpu_]) return installed_[d] < installed_[cpu_];
  }
  return true;
}

Amounts QueueTree::demandOf(const model::Job& job) const {
  Amounts amounts(dimensions_.size(), 0);
  for (const model::Role& role : job.spec.roles) {
    addRequests(role.shape.requests, model::gangMembers(job, role), amounts);
    // For members without GPUs it depends on the nodes, unless all nodes have GPUs.
    if (role.shape.requests.gpus() > 0 || !hasNodesWithoutGpus())
      addGpuNodeResources(role.shape.requests, model::gangMembers(job, role), amounts);
  }
  return amounts;
}

Amounts QueueTree::heldBy(const model::Job& job, const std::vector<model::Assignment>& assignments) const {
  Amounts amounts(dimensions_.size(), 0);
  for (const model::Assignment& assignment : assignments) {
    const model::Resources* requests = model::chargedRequests(job, assignment.role);
    if (requests == nullptr) continue;
    addHeldOn(assignment, *requests, amounts);
  }
  return amounts;
}

std::string_view QueueTree::gpuTypeOf(const model::NodeName& node) const {
  const auto type = typeOf_->find(node);
  if (type == typeOf_->end()) return {};
  return std::string_view(dimensions_[type->second]).substr(model::kGpuTypePrefix.size());
}

void QueueTree::addHeldOn(const model::Assignment& place, const model::Resources& requests,
                          Amounts& into) const {
  const auto count = static_cast<std::int64_t>(place.indices.size());
  if (place.gpuType.empty()) return addHeldOn(place.node, requests, count, into);
  addRequests(requests, count, into);
  if (gpuNodes_ && gpuNodes_->contains(place.node)) addGpuNodeResources(requests, count, into);
  const auto dimension = std::find(dimensions_.begin() + static_cast<std::ptrdiff_t>(firstType_),
                                   dimensions_.end(), std::string(model::kGpuTypePrefix) + place.gpuType);
  if (dimension == dimensions_.end()) return;
  auto& held = into[static_cast<std::size_t>(dimension - dimensions_.begin())];
  held = base::saturatingAdd(held, base::saturatingMultiply(requests.gpus(), count));
}

void QueueTree::addHeldOn(const model::NodeName& node, const model::Resources& requests, std::int64_t count,
                          Amounts& into) const {
  addRequests(requests, count, into);
  if (gpuNodes_ && gpuNodes_->contains(node)) addGpuNodeResources(requests, count, into);
  if (const auto type = typeOf_->find(node); type != typeOf_->end()) {
    into[type->second] =
        base::saturatingAdd(into[type->second], base::saturatingMultiply(requests.gpus(), count));
  }
}

Amounts QueueTree::heldBy(const JobPods& pods) const {
  Amounts amounts(dimensions_.size(), 0);
  for (const auto& pod : pods) {
    if (pod->bound() && !pod->finished()) addHeldOn(pod->node, pod->shape.requests, 1, amounts);
  }
  return amounts;
}

Amounts QueueTree::leavingOf(const model::Job& job, const JobPods& pods) const {
  Amounts amounts = heldBy(membersAmong(pods, job));
  if (job.finished()) return amounts;
  const Amounts recorded = holdingsOf(job);
  for (std::size_t d = 0; d < amounts.size(); ++d)
    amounts[d] = std::max<std::int64_t>(base::saturatingSubtract(amounts[d], recorded[d]), 0);
  return amounts;
}

void QueueTree::endHoldings(const model::Job& job, const JobPods& pods) {
  const Index queue = queueOf(job);
  const Amounts recorded = holdingsOf(job);
  discharge(queue, recorded, !model::chargedPreemptible(job));
  // What they hold beyond the record is charged as leaving already.
  Amounts left = heldBy(membersAmong(pods, job));
  for (std::size_t d = 0; d < left.size(); ++d) left[d] = std::min(left[d], recorded[d]);
  chargeLeaving(queue, left);
}

// A proposal that removes and adds ends with the latter. Until then its pods may be on either side, which
// the ledger counts. Quotas count the final state.
Amounts QueueTree::holdingsOf(const model::Job& job) const {
  const model::GangRecord& gang = job.status.gang;
  if (gang.placed && !gang.proposal) return heldBy(job, gang.placed->assignments);
  Amounts amounts(dimensions_.size(), 0);
  const auto add = [&](const std::vector<model::Assignment>& assignments, int sign) {
    const Amounts held = heldBy(job, assignments);
    for (std::size_t d = 0; d < held.size(); ++d)
      amounts[d] = base::saturatingAdd(amounts[d], sign * held[d]);
  };
  if (gang.placed) add(gang.placed->assignments, 1);
  if (gang.proposal) {
    add(gang.proposal->remove, -1);
    add(gang.proposal->add, 1);
  }
  for (std::int64_t& amount : amounts) amount = std::max<std::int64_t>(amount, 0);
  return amounts;
}

void QueueTree::markLeaving(Index queue, const Amounts& amounts) {
  discharge(queue, amounts, false);
  chargeLeaving(queue, amounts);
}

void QueueTree::unmarkLeaving(Index queue, const Amounts& amounts) {
  charge(queue, amounts, false);
  Amounts negated = amounts;
  for (std::int64_t& amount : negated) amount = -amount;
  chargeLeaving(queue, negated);
}

void QueueTree::charge(Index queue, const Amounts& amounts, bool nonPreemptible) {
  ++version_;
  for (std::size_t d = 0; d < amounts.size(); ++d) {
    nodes_[queue].ownUsage[d] = base::saturatingAdd(nodes_[queue].ownUsage[d], amounts[d]);
    if (nonPreemptible)
      nodes_[queue].nonPreemptible[d] = base::saturatingAdd(nodes_[queue].nonPreemptible[d], amounts[d]);
    nodes_[kCluster].usage[d] = base::saturatingAdd(nodes_[kCluster].usage[d], amounts[d]);
    for (const Index at : nodes_[queue].path) {
      nodes_[at].usage[d] = base::saturatingAdd(nodes_[at].usage[d], amounts[d]);
      nodes_[at].averaged[d] = base::saturatingAdd(nodes_[at].averaged[d], amounts[d]);
    }
  }
}

void QueueTree::discharge(Index queue, const Amounts& amounts, bool nonPreemptible) {
  Amounts negated = amounts;
  for (std::int64_t& amount : negated) amount = -amount;
  charge(queue, negated, nonPreemptible);
}

void QueueTree::chargeLeaving(Index queue, const Amounts& amounts) {
  for (std::size_t d = 0; d < amounts.size(); ++d) {
    for (const Index at : nodes_[queue].path)
      nodes_[at].leaving[d] = base::saturatingAdd(nodes_[at].leaving[d], amounts[d]);
  }
}

}  // namespace trainyard::core
