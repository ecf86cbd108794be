#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/reflector.h"
#include "sim/workloads/owned_pod.h"

namespace trainyard::sim {

// A ReplicaSet as its controller keeps it.
struct ReplicaSet {
  model::ObjectKey key;
  model::Uid uid;
  std::string resourceVersion;
  bool deleting = false;
  int replicas = 1;
  std::string podTemplate;  // JSON
};

[[nodiscard]] base::Result<ReplicaSet> decodeReplicaSet(std::string_view json);

}  // namespace trainyard::sim

namespace trainyard::kube {

template <>
struct CacheTraits<sim::ReplicaSet> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "ReplicaSet";
  static const Key& keyOf(const sim::ReplicaSet& set) { return set.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const sim::ReplicaSet& before, const sim::ReplicaSet& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

}  // namespace trainyard::kube

namespace trainyard::sim {

// A controller of bare pods: it keeps `replicas` of them, creates deleted, evicted and lost ones again at
// once, and deletes those beyond, gated ones first. Unlike those of a real ReplicaSet its pods may end: the
// programs that have ended, with any exit code, count as replicas.
class ReplicaController {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng rng;
    base::Logger log;
  };

  explicit ReplicaController(Dependencies dependencies);
  ~ReplicaController() { *alive_ = false; }
  ReplicaController(const ReplicaController&) = delete;
  ReplicaController& operator=(const ReplicaController&) = delete;

  void start();

 private:
  using SetPtr = std::shared_ptr<const ReplicaSet>;
  using PodPtr = std::shared_ptr<const OwnedPod>;
  struct Progress {
    std::set<model::Uid> ended;    // pods whose program has ended
    std::set<model::Uid> deleted;  // by the controller
    int creating = 0;
    bool looks = false;  // a look is scheduled
  };

  void podChanged(const PodPtr& after);
  void lookLater(const model::Uid& set, base::Instant::duration delay);
  void look(const model::Uid& uid);
  void createPod(const ReplicaSet& set, Progress& progress);
  void removePods(std::vector<PodPtr> pods, std::size_t count, Progress& progress);
  [[nodiscard]] SetPtr setOf(const model::Uid& uid) const;

  Dependencies deps_;
  kube::ObjectCache<ReplicaSet> sets_;
  kube::ObjectCache<OwnedPod> pods_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::map<model::Uid, Progress> progress_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::sim
