#pragma once

#include <memory>
#include <vector>

#include "sim/api/gc.h"
#include "sim/api/server.h"
#include "sim/cluster/cluster_clients.h"
#include "sim/cluster/cluster_context.h"
#include "sim/nodes/kubelet.h"
#include "sim/nodes/node_lifecycle.h"
#include "sim/scheduler/extender.h"
#include "sim/scheduler/scheduler.h"
#include "sim/workloads/job_controller.h"
#include "sim/workloads/replica_controller.h"

namespace trainyard::sim {

// The programs of Kubernetes beside the API server, and the extender of the scheduler. They run from the
// beginning.
class ControlPlane {
 public:
  // The arguments must outlive the object.
  ControlPlane(ClusterContext& context, ApiServer& server, ClusterClients& clients);

  [[nodiscard]] Kubelets& kubelets() { return *kubelets_; }
  // While it is down, kube-scheduler's calls of the extender fail; it comes back without its memory.
  void setExtenderUp(bool up);

 private:
  GarbageCollector garbageCollector_;
  std::vector<std::unique_ptr<ClusterClient>> clients_;
  std::unique_ptr<GuardExtender> extender_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Kubelets> kubelets_;
  std::unique_ptr<NodeLifecycle> nodeLifecycle_;
  std::unique_ptr<JobController> jobs_;          // with ClusterOptions::owners
  std::unique_ptr<ReplicaController> replicas_;  // likewise
};

}  // namespace trainyard::sim
