#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/time.h"
#include "codec/node.h"
#include "codec/pod.h"
#include "kube/job_cache.h"
#include "kube/object_cache.h"
#include "model/snapshot.h"

namespace trainyard::kube {

template <>
struct CacheTraits<model::Node> {
  using Key = model::NodeName;
  static constexpr std::string_view kKind = "Node";
  static const Key& keyOf(const model::Node& node) { return node.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return Key(meta.name); }
  // Kubelets update their Node continuously; only a difference in the projection counts as a change.
  static bool same(const model::Node& before, const model::Node& after);
  static std::optional<model::Node> standInFor(std::string_view json) {
    return codec::decodePartOfNode(json);
  }
};

template <>
struct CacheTraits<model::Pod> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Pod";
  static const Key& keyOf(const model::Pod& pod) { return pod.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static std::optional<model::Pod> standInFor(std::string_view json) {
    return codec::decodePartOfBoundPod(json);
  }
  static bool same(const model::Pod& before, const model::Pod& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

template <>
struct CacheTraits<model::Queue> {
  using Key = model::QueueName;
  static constexpr std::string_view kKind = "Queue";
  static const Key& keyOf(const model::Queue& queue) { return queue.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return Key(meta.name); }
  static bool same(const model::Queue& before, const model::Queue& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

template <>
struct CacheTraits<model::PriorityClass> {
  using Key = std::string;
  static constexpr std::string_view kKind = "PriorityClass";
  static const Key& keyOf(const model::PriorityClass& priority) { return priority.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  static bool same(const model::PriorityClass& before, const model::PriorityClass& after);
};

template <>
struct CacheTraits<model::Namespace> {
  using Key = std::string;
  static constexpr std::string_view kKind = "Namespace";
  static const Key& keyOf(const model::Namespace& space) { return space.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return meta.name; }
  // Only the labels affect decisions.
  static bool same(const model::Namespace& before, const model::Namespace& after);
};

struct ClusterDecoders {
  ObjectCache<model::Node>::Decode node;
  ObjectCache<model::Pod>::Decode pod;
  ObjectCache<model::Job>::Decode job;
  ObjectCache<model::Gang>::Decode gang;
  ObjectCache<model::Queue>::Decode queue;
  ObjectCache<model::PriorityClass>::Decode priorityClass;
  ObjectCache<model::Namespace>::Decode ns;
};

// All inputs of decisions, each member kept current by one reflector. If a program does not watch a type,
// that member stays empty.
class ClusterCache {
 public:
  // Uses the standard decoders for objects of the API server.
  explicit ClusterCache(const base::Logger& log);
  ClusterCache(ClusterDecoders decoders, const base::Logger& log);
  ClusterCache(const ClusterCache&) = delete;
  ClusterCache& operator=(const ClusterCache&) = delete;

  ObjectCache<model::Node> nodes;
  ObjectCache<model::Pod> pods;
  JobCache jobs;
  ObjectCache<model::Queue> queues;
  ObjectCache<model::PriorityClass> priorityClasses;
  ObjectCache<model::Namespace> namespaces;

  // Calls the listener after every change of any member, once per object, as a signal that decisions may be
  // stale. A change of a queue's status does not count, because no decision depends on it before the next
  // change. Members' own onChange reports what changed.
  void onAnyChange(const std::function<void()>& listener);

  // The cluster as currently known, with the default policy. Copies pointers, not objects.
  [[nodiscard]] model::Snapshot snapshot(base::WallTime now) const;
  [[nodiscard]] std::size_t undecodable() const;
  [[nodiscard]] std::vector<std::string> undecodableNames() const;

 private:
  // Logs once per kind, with the first object, that not all resources of its objects are counted.
  template <typename T>
  void warnOfUncounted(ObjectCache<T>& objects, const base::Logger& log);
};

}  // namespace trainyard::kube
