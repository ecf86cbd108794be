#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"
#include "sim/nodes/kubelet_pod.h"

namespace trainyard::sim {

struct KubeletOptions {
  std::chrono::microseconds nodeReadyAfter{100'000};
  // For pulling images and starting containers: drawn for each pod between one and two times this value.
  std::chrono::microseconds startTime{200'000};
  // The time from SIGTERM to the end of a container if its annotation does not set one; the pod's grace
  // period is the limit.
  std::chrono::microseconds stopTime{200'000};
};

// The kubelets of all nodes. A node becomes ready. A pod bound to it is admitted if the node has the
// capacity, runs, and ends as its annotations request (as on the nodes of e2e/manifests/stages.yaml). If it
// is deleted, its containers end, its status changes, and then it is removed.
class Kubelets {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng rng;
    base::Logger log;
  };

  Kubelets(KubeletOptions options, Dependencies dependencies);
  ~Kubelets();
  Kubelets(const Kubelets&) = delete;
  Kubelets& operator=(const Kubelets&) = delete;

  void start();
  // A kubelet that is down does nothing and sends no heartbeat; its containers run on. When it is back, it
  // catches up.
  void setUp(const model::NodeName& node, bool up);
  [[nodiscard]] bool isUp(const model::NodeName& node) const { return !down_.contains(node); }
  // The number of pods since the start that a kubelet refused for lack of capacity.
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }

 private:
  using PodPtr = std::shared_ptr<const KubeletPod>;
  enum class Stage { kSeen, kStarting, kRunning, kLeaving, kEnded, kStopping };
  struct Work {
    Stage stage = Stage::kSeen;
    model::ObjectKey key;
    model::NodeName node;
    bool admitted = false;
    model::Resources requests;
    base::WallTime started{};
    std::chrono::seconds grace{0};  // with which it stops; a later deletion may shorten it
    base::TimerId timer{};
  };

  void nodeChanged(const std::shared_ptr<const model::Node>& node);
  void reportReady(const model::NodeName& node);
  void podChanged(const PodPtr& before, const PodPtr& after);
  void look(const KubeletPod& pod);
  void admit(const KubeletPod& pod, Work& work);
  void runUntilEnd(const KubeletPod& pod, Work& work);
  void leave(const KubeletPod& pod, Work& work);
  void stop(const KubeletPod& pod, Work& work);
  void remove(const model::ObjectKey& pod, const model::Uid& uid);
  // Runs `step` after the delay if the pod is still the same and its kubelet is up.
  void later(Work& work, const model::Uid& uid, base::Instant::duration delay,
             std::function<void(const KubeletPod&, Work&)> step);
  void patchStatus(const KubeletPod& pod, std::string patch, std::function<void(bool good)> done);
  [[nodiscard]] std::optional<model::ResourceShortfall> lacks(const KubeletPod& pod) const;

  KubeletOptions options_;
  Dependencies deps_;
  kube::ObjectCache<model::Node> nodes_;
  kube::ObjectCache<KubeletPod> pods_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::map<model::Uid, Work> work_;
  std::set<model::NodeName> down_;
  std::uint64_t lastIp_ = 0;
  std::uint64_t refusals_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::sim
