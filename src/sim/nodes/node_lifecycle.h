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
  std::chrono::milliseconds orphanGrace{40'000};   // from a node's deletion until its pods are deleted
};

// The node controllers of kube-controller-manager: taints by condition, Ready=Unknown for a silent kubelet,
// eviction from unreachable nodes after the pods' tolerations, and removal of pods from deleted nodes.
class NodeLifecycle {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng rng;
    base::Logger log;
    std::function<bool(const model::NodeName&)> isUp;  // whether its kubelet sends heartbeats
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
  std::map<model::NodeName, base::Instant> lostSince_;  // has the taint unreachable:NoExecute
  std::map<model::Uid, base::Instant> orphanSince_;
  std::map<model::Uid, base::Instant> evicted_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::sim
