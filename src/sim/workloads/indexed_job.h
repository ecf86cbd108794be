#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/object_cache.h"
#include "model/ids.h"

namespace trainyard::sim {

// A Job with completionMode Indexed as its controller keeps it.
struct IndexedJob {
  model::ObjectKey key;
  model::Uid uid;
  std::string resourceVersion;
  bool deleting = false;
  bool suspended = false;
  bool ended = false;    // condition Complete or Failed
  bool inOrder = false;  // sim.trainyard.dev/creates: in-order
  int completions = 1;
  int parallelism = 1;
  int backoffLimit = 6;
  std::string podTemplate;  // JSON
};

[[nodiscard]] base::Result<IndexedJob> decodeIndexedJob(std::string_view json);

}  // namespace trainyard::sim

namespace trainyard::kube {

template <>
struct CacheTraits<sim::IndexedJob> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Job";
  static const Key& keyOf(const sim::IndexedJob& job) { return job.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const sim::IndexedJob& before, const sim::IndexedJob& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

}  // namespace trainyard::kube
