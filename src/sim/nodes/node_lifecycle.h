#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"
#include "sim/nodes/kubelet_pod.h"

namespace trainyard::sim {

struct NodeLifecycleOptions {
  std::chrono::milliseconds monitorPeriod{5'000};
  std::chrono::milliseconds monitorGrace{50'000};  // silence of a kubelet until its node is Unknown
  std::chrono::milliseconds orphanGrace{40'000};   // from a node's disappearance until its pods go
};

// What kube-controller-manager does about nodes: taints by condition, Ready=Unknown for a silent kubelet,
// eviction from lost nodes when the pods' tolerations run out, and removal of pods whose node is gone.
class NodeLifecycle {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng rng;
    base::Logger log;
    std::function<bool(const model::NodeName&)> isUp;  // whether its kubelet is heard of
  };

  NodeLifecycle(NodeLifecycleOptions options, Dependencies dependencies);
  ~NodeLifecycle();
  NodeLifecycle(const NodeLifecycle&) = delete;
  NodeLifecycle& operator=(const NodeLifecycle&) = delete;

  void start();

 private:
  void nodeChanged(const model::Node& node);
  void watchHeartbeats();
  void watchPods();
  void reportUnknown(const model::NodeName& node);
  void taint(const model::Node& node, std::vector<model::Taint> wanted);
  void evict(const KubeletPod& pod, const char* reason, bool force);

  NodeLifecycleOptions options_;
  Dependencies deps_;
  kube::ObjectCache<model::Node> nodes_;
  kube::ObjectCache<KubeletPod> pods_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::map<model::NodeName, base::Instant> silentSince_;
  std::map<model::NodeName, base::Instant> lostSince_;  // carries the taint unreachable:NoExecute
  std::map<model::Uid, base::Instant> orphanSince_;
  std::map<model::Uid, base::Instant> evicted_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::sim
