#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/time.h"
#include "kube/object_cache.h"
#include "model/snapshot.h"

namespace trainyard::kube {

template <>
struct CacheTraits<model::Node> {
  using Key = model::NodeName;
  static constexpr std::string_view kKind = "Node";
  static const Key& keyOf(const model::Node& node) { return node.name; }
  static Key keyOf(const codec::ObjectMeta& meta) { return Key(meta.name); }
  // Kubelets touch their Node all the time; only what the projection holds counts as a change.
  static bool same(const model::Node& before, const model::Node& after);
};

template <>
struct CacheTraits<model::Pod> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Pod";
  static const Key& keyOf(const model::Pod& pod) { return pod.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::Pod& before, const model::Pod& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

template <>
struct CacheTraits<model::Job> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "TrainingJob";
  static const Key& keyOf(const model::Job& job) { return job.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::Job& before, const model::Job& after) {
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
  // Only labels decide anything.
  static bool same(const model::Namespace& before, const model::Namespace& after);
};

struct ClusterDecoders {
  ObjectCache<model::Node>::Decode node;
  ObjectCache<model::Pod>::Decode pod;
  ObjectCache<model::Job>::Decode job;
  ObjectCache<model::Queue>::Decode queue;
  ObjectCache<model::PriorityClass>::Decode priorityClass;
  ObjectCache<model::Namespace>::Decode ns;
};

// Everything that decisions rest on, kept by one reflector for each member. A program that does not watch a
// type leaves that member empty.
class ClusterCache {
 public:
  // Decodes as the API server writes.
  explicit ClusterCache(const base::Logger& log);
  ClusterCache(ClusterDecoders decoders, const base::Logger& log);
  ClusterCache(const ClusterCache&) = delete;
  ClusterCache& operator=(const ClusterCache&) = delete;

  ObjectCache<model::Node> nodes;
  ObjectCache<model::Pod> pods;
  ObjectCache<model::Job> jobs;
  ObjectCache<model::Queue> queues;
  ObjectCache<model::PriorityClass> priorityClasses;
  ObjectCache<model::Namespace> namespaces;

  // Called after every change of any member, once for each object; for who only needs to know that a decision
  // may be stale: not for what a queue's status tells, which no decision rests on before the next change.
  // Members' own onChange says what changed.
  void onAnyChange(const std::function<void()>& listener);

  // The cluster as known now, with the default policy. Copies pointers, not objects.
  [[nodiscard]] model::Snapshot snapshot(base::WallTime now) const;
  [[nodiscard]] std::size_t undecodable() const;
  [[nodiscard]] std::vector<std::string> undecodableNames() const;

 private:
  // Says once of each kind that not all of its resources are counted, and of which object first.
  template <typename T>
  void tellOfUncounted(ObjectCache<T>& objects, const base::Logger& log);
};

}  // namespace trainyard::kube
