#include "core/queues/namespaces.h"

#include <algorithm>

#include "core/ledger/node_misfit.h"
#include "model/names.h"

namespace trainyard::core {

const std::string* defaultQueueOf(const model::Namespace& space) {
  const std::string* named = space.labels.find(model::names::kDefaultQueueLabel);
  return named == nullptr || named->empty() ? nullptr : named;
}

std::vector<model::QueueName> ancestorsOf(const model::QueueName& queue, const model::Snapshot& snapshot) {
  std::vector<model::QueueName> ancestors;
  const auto find = [&](const model::QueueName& name) {
    return std::find_if(snapshot.queues.begin(), snapshot.queues.end(),
                        [&](const auto& each) { return each->name == name; });
  };
  for (auto at = find(queue); at != snapshot.queues.end() && !(*at)->parent.empty();) {
    const model::QueueName& parent = (*at)->parent;
    if (parent == queue || std::find(ancestors.begin(), ancestors.end(), parent) != ancestors.end()) break;
    at = find(parent);
    if (at != snapshot.queues.end()) ancestors.push_back(parent);
  }
  return ancestors;
}

model::QueueName requestedQueue(const model::Job& job, const model::Snapshot& snapshot) {
  if (job.spec.queue.str() != model::names::kDefaultQueue) return job.spec.queue;
  const model::Namespace* space = snapshot.namespaces.find(job.key.ns);
  const std::string* named = space == nullptr ? nullptr : defaultQueueOf(*space);
  return named == nullptr ? job.spec.queue : model::QueueName(*named);
}

bool namespaceAllowed(const model::Queue& queue, const std::string& ns, const model::Snapshot& snapshot) {
  const auto& requirements = queue.namespaceSelector.requirements;
  if (requirements.empty()) return true;
  const model::Namespace* space = snapshot.namespaces.find(ns);
  if (space == nullptr) return false;
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& requirement) { return labelsMeet(requirement, space->labels); });
}

bool queueOpenTo(const model::QueueName& queue, const std::string& ns, const model::Snapshot& snapshot) {
  const model::Queue* at = snapshot.queues.find(queue);
  // A chain of parents may be a cycle.
  for (std::size_t steps = snapshot.queues.size(); at != nullptr && steps > 0; --steps) {
    if (!namespaceAllowed(*at, ns, snapshot)) return false;
    at = snapshot.queues.find(at->parent);
  }
  return true;
}

}  // namespace trainyard::core
