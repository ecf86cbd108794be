#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"
#include "model/owner_kinds.h"
#include "model/workload.h"

namespace trainyard::kube {

template <>
struct CacheTraits<model::Workload> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Workload";
  static const Key& keyOf(const model::Workload& workload) { return workload.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::Workload& before, const model::Workload& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

}  // namespace trainyard::kube

namespace trainyard::operator_ {

// The objects of the enabled kinds that name a queue. Their CRDs may be absent: nothing waits for a kind, and
// one that appears later is listed then. What their controllers do to them shows in their Gangs at once.
class WorkloadWatches {
 public:
  using WorkloadPtr = std::shared_ptr<const model::Workload>;
  // A kind, and the key of an object of it that has changed.
  using Listener = std::function<void(const model::OwnerKind& kind, const model::ObjectKey& key)>;

  // `kinds`: names of rows of model::kOwnerKinds; others are ignored with a log line.
  WorkloadWatches(const std::vector<std::string>& kinds, kube::ClusterCache& cache, base::Logger log);
  WorkloadWatches(const WorkloadWatches&) = delete;
  WorkloadWatches& operator=(const WorkloadWatches&) = delete;

  void start(kube::ApiClient& api, base::Executor& executor, base::Rng& rng);
  void stop() { reflectors_.clear(); }

  void onChange(Listener listener) { listeners_.push_back(std::move(listener)); }
  // Null if there is none.
  [[nodiscard]] WorkloadPtr find(const model::OwnerKind& kind, const model::ObjectKey& key) const;
  // Calls the visitor for each object of each kind.
  void forEach(const Listener& visit) const;
  // Takes the answer to a write.
  void applyWrite(const model::OwnerKind& kind, std::string_view object);
  // Returns true if an object of an enabled kind has this uid.
  [[nodiscard]] bool has(const model::Uid& uid) const;

 private:
  struct Watched {
    Watched(const model::OwnerKind& of, base::Logger log);

    const model::OwnerKind& kind;
    kube::ObjectCache<model::Workload> cache;
  };

  void changed(const Watched& watched, const WorkloadPtr& before, const WorkloadPtr& after);

  kube::ClusterCache& cluster_;
  base::Logger log_;
  std::vector<std::unique_ptr<Watched>> watched_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::vector<Listener> listeners_;
};

}  // namespace trainyard::operator_
