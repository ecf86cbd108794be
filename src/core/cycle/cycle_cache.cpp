#include "core/cycle/cycle_cache.h"

#include <algorithm>

namespace trainyard::core {
namespace {

using Nodes = model::SharedList<model::Node>;

bool sameLevels(const std::vector<model::TopologyLevel>& a, const std::vector<model::TopologyLevel>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.labelKey == y.labelKey;
  });
}

// Returns true if both lists make the same topology domains, and the same names in messages.
bool sameNetwork(const Nodes& a, const Nodes& b) {
  return a.isSameAs(b) ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
           return x == y || (x->name == y->name && x->labels == y->labels);
         });
}

// Returns true if both queues admit the same jobs. Their statuses do not matter.
bool sameQueue(const std::shared_ptr<const model::Queue>& a, const std::shared_ptr<const model::Queue>& b) {
  return a == b || (a->name == b->name && a->parent == b->parent && a->limit == b->limit &&
                    a->guaranteed == b->guaranteed && a->namespaceSelector == b->namespaceSelector &&
                    a->allowedPriorityClasses == b->allowedPriorityClasses && a->specError == b->specError);
}

bool sameNames(const model::SharedList<model::Queue>& a, const model::SharedList<model::Queue>& b) {
  return a.isSameAs(b) || std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                     [](const auto& x, const auto& y) { return x->name == y->name; });
}

}  // namespace

void CycleCache::begin(const model::Snapshot& snapshot) {
  const bool same =
      domains_ && sameLevels(levels_, snapshot.policy.topology) && sameNetwork(nodes_, snapshot.nodes);
  if (!same) {
    domains_ = std::make_unique<const Domains>(snapshot.nodes, snapshot.policy.topology);
    levels_ = snapshot.policy.topology;
    schedule_.clear();
  }
  nodes_ = snapshot.nodes;
  ledger_.follow(snapshot);
  schedule_.notes.follow(snapshot.jobs);
  followPods(snapshot.jobs);
  if (!sameAdmissionInputs(snapshot)) schedule_.notes.clearAdmissions();
  // The status of a running job reports whether a Queue is charged for it.
  if (!sameNames(queueList_, snapshot.queues)) schedule_.notes.unsettle();
  queueList_ = snapshot.queues;
  priorityClasses_ = snapshot.priorityClasses;
  namespaces_ = snapshot.namespaces;
  requireQueue_ = snapshot.policy.requireQueue;
  schedule_.begin(ledger_);
}

// Changed pods may give their job something to do.
void CycleCache::followPods(const model::SharedList<model::Job>& jobs) {
  for (const model::Uid& owner : ledger_.pods().changes().owners) {
    const auto job = ledger_.jobOf(owner);
    if (!job) continue;
    JobNotes::Note& note = schedule_.notes.of(schedule_.notes.find(job, 0));
    note.settled = note.waits = false;
  }
  for (const model::ObjectKey& gang : ledger_.pods().changes().arrivals) {
    const auto position = jobs.positionOf(gang);
    if (position == jobs.size()) continue;
    JobNotes::Note& note = schedule_.notes.of(position);
    note.settled = note.waits = false;
  }
}

bool CycleCache::sameAdmissionInputs(const model::Snapshot& snapshot) const {
  return requireQueue_ == snapshot.policy.requireQueue && queueList_.size() == snapshot.queues.size() &&
         std::equal(queueList_.begin(), queueList_.end(), snapshot.queues.begin(), sameQueue) &&
         priorityClasses_ == snapshot.priorityClasses && namespaces_ == snapshot.namespaces;
}

}  // namespace trainyard::core
