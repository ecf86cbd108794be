#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"
#include "sim/scheduler/attempt_timer.h"
#include "sim/scheduler/extender.h"
#include "sim/scheduler/node_chooser.h"
#include "sim/scheduler/node_usage.h"
#include "sim/scheduler/pod.h"
#include "sim/scheduler/queue.h"

namespace trainyard::sim {

struct SchedulerOptions {
  std::string name = "default-scheduler";        // of spec.schedulerName; pods of others are only counted
  std::chrono::microseconds attemptTime{1'000};  // of each attempt; pods are tried one at a time
  SchedulingQueueTimes queue = {};
};

// kube-scheduler as far as gangs need it. It handles one pod at a time, ignores gated pods, and filters by
// cordon, taints, node affinity and resources. It asks the extender about pods with GPUs, takes the best node
// by score and then by name, counts the pod there at once, and binds it in the background. A pod without a
// node gets PodScheduled=False and waits for an event. Not modelled: preemption, pod affinity, ports,
// volumes, spreading.
class Scheduler {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng rng;
    base::Logger log;
    SchedulerExtender* extender = nullptr;  // null: none is configured
  };

  Scheduler(SchedulerOptions options, Dependencies dependencies);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void start();

 private:
  using PodPtr = std::shared_ptr<const SchedulerPod>;

  void podChanged(const PodPtr& before, const PodPtr& after);
  void queuePod(const PodPtr& before, const PodPtr& after);
  [[nodiscard]] bool isOurs(const SchedulerPod& pod) const;
  void wake();
  void attemptNext();
  void attempt(const PodPtr& pod);
  void bind(const PodPtr& pod, const model::NodeName& node);
  void bindingFailed(const PodPtr& pod, const base::Error& error);
  void giveUp(const PodPtr& pod, const NodeSearch& search);
  void reportCondition(const PodPtr& pod, const std::string& reason, const std::string& message);

  SchedulerOptions options_;
  Dependencies deps_;
  kube::ObjectCache<model::Node> nodes_;
  kube::ObjectCache<SchedulerPod> pods_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  SchedulingQueue queue_;
  std::map<model::Uid, model::ObjectKey> keys_;  // of queued pods
  NodeUsage usage_;
  AttemptTimer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::sim
