#include "kube/cluster_cache.h"

#include <cstddef>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "codec/job.h"
#include "codec/namespace.h"
#include "codec/priority_class.h"
#include "codec/queue.h"
#include "kube/each_cache.h"
#include "model/limits.h"

namespace trainyard::kube {
namespace {

// Whether a queue changed in no more than its status. Its generation changes with every write of the spec.
bool isSameSpec(const std::shared_ptr<const model::Queue>& before,
                const std::shared_ptr<const model::Queue>& after) {
  return before && after && before->uid == after->uid && before->generation == after->generation;
}

template <typename T>
bool isSameSpec(const std::shared_ptr<const T>&, const std::shared_ptr<const T>&) {
  return false;
}

}  // namespace

bool CacheTraits<model::Node>::same(const model::Node& before, const model::Node& after) {
  const auto fields = [](const model::Node& node) {
    // readyChanged is compared because it decides when a node's pods count as lost: after a missed outage all
    // other fields have their old values.
    return std::tie(node.uid, node.labels, node.taints, node.unschedulable, node.ready, node.readyChanged,
                    node.deleting, node.allocatable);
  };
  return fields(before) == fields(after);
}

bool CacheTraits<model::PriorityClass>::same(const model::PriorityClass& before,
                                             const model::PriorityClass& after) {
  return before.value == after.value && before.globalDefault == after.globalDefault;
}

bool CacheTraits<model::Namespace>::same(const model::Namespace& before, const model::Namespace& after) {
  return before.uid == after.uid && before.labels == after.labels;
}

ClusterCache::ClusterCache(const base::Logger& log)
    : ClusterCache({.node = codec::decodeNode,
                    .pod = codec::decodePod,
                    .job = codec::decodeJob,
                    .gang = codec::decodeGang,
                    .queue = codec::decodeQueue,
                    .priorityClass = codec::decodePriorityClass,
                    .ns = codec::decodeNamespace},
                   log) {}

ClusterCache::ClusterCache(ClusterDecoders decoders, const base::Logger& log)
    : nodes(std::move(decoders.node), log),
      pods(std::move(decoders.pod), log),
      jobs(std::move(decoders.job), std::move(decoders.gang), log),
      queues(std::move(decoders.queue), log),
      priorityClasses(std::move(decoders.priorityClass), log),
      namespaces(std::move(decoders.ns), log) {
  // A kind that is added does not compile before it is named here; then forEachCache() needs it, too.
  [[maybe_unused]] const auto& [node, pod, job, gang, queue, priorityClass, ns] = decoders;
  warnOfUncounted(nodes, log);
  warnOfUncounted(pods, log);
}

template <typename T>
void ClusterCache::warnOfUncounted(ObjectCache<T>& objects, const base::Logger& log) {
  objects.onChange([log, warned = false](const auto&, const auto& after) mutable {
    if (warned || !after || after->uncountedResources == 0) return;
    warned = true;
    std::string name;
    if constexpr (requires { after->key; }) {
      name = fmt::format("{}", after->key);
    } else {
      name = after->name.str();
    }
    log.warning("not all resources of an object are counted; further ones are not logged",
                {{"kind", CacheTraits<T>::kKind},
                 {"name", name},
                 {"counted", fmt::to_string(model::limits::kResourceNames)}});
  });
}

void ClusterCache::onAnyChange(const std::function<void()>& listener) {
  forEachCache(*this, [&](const ResourceType&, auto& cache) {
    cache.onChange([listener](const auto& before, const auto& after) {
      if (!isSameSpec(before, after)) listener();
    });
  });
}

model::Snapshot ClusterCache::snapshot(base::WallTime now) const {
  return {.now = now,
          .nodes = nodes.all(),
          .pods = pods.all(),
          .jobs = jobs.all(),
          .queues = queues.all(),
          .priorityClasses = priorityClasses.all(),
          .namespaces = namespaces.all()};
}

std::vector<std::string> ClusterCache::undecodableNames() const {
  std::vector<std::string> names;
  forEachCache(*this, [&](const ResourceType&, const auto& cache) {
    names.insert(names.end(), cache.undecodableNames().begin(), cache.undecodableNames().end());
  });
  return names;
}

std::size_t ClusterCache::undecodable() const {
  std::size_t count = 0;
  forEachCache(*this, [&](const ResourceType&, const auto& cache) { count += cache.undecodable(); });
  return count;
}

}  // namespace trainyard::kube
