#include "sim/cluster/control_plane.h"

namespace trainyard::sim {

ControlPlane::ControlPlane(ClusterContext& context, ApiServer& server, ClusterClients& clients)
    : garbageCollector_(server, context.loop) {
  const auto client = [&](const char* name) -> ClusterClient& {
    clients_.push_back(clients.connect(name, context.options.otherFaults, context.loop));
    return *clients_.back();
  };
  if (context.options.extender) {
    kube::ApiClient& api = client("extender").api;
    extender_ = std::make_unique<GuardExtender>(api, context.loop, context.rng.split(), context.log);
    extender_->start();
  }
  scheduler_ = std::make_unique<Scheduler>(context.options.scheduler,
                                           Scheduler::Dependencies{.api = client("scheduler").api,
                                                                   .executor = context.loop,
                                                                   .rng = context.rng.split(),
                                                                   .log = context.log.named("scheduler"),
                                                                   .extender = extender_.get()});
  kubelets_ = std::make_unique<Kubelets>(
      context.options.kubelet, Kubelets::Dependencies{client("kubelet").api, context.loop,
                                                      context.rng.split(), context.log.named("kubelet")});
  nodeLifecycle_ = std::make_unique<NodeLifecycle>(
      context.options.nodeLifecycle, NodeLifecycle::Dependencies{.api = client("node-lifecycle").api,
                                                                 .executor = context.loop,
                                                                 .rng = context.rng.split(),
                                                                 .log = context.log.named("node-lifecycle"),
                                                                 .isUp = [this](const model::NodeName& node) {
                                                                   return kubelets_->isUp(node);
                                                                 }});
  scheduler_->start();
  kubelets_->start();
  nodeLifecycle_->start();
  if (!context.options.owners) return;
  jobs_ = std::make_unique<JobController>(JobController::Dependencies{
      client("job-controller").api, context.loop, context.rng.split(), context.log.named("job-controller")});
  replicas_ = std::make_unique<ReplicaController>(
      ReplicaController::Dependencies{client("replica-controller").api, context.loop, context.rng.split(),
                                      context.log.named("replica-controller")});
  jobs_->start();
  replicas_->start();
}

void ControlPlane::setExtenderUp(bool up) {
  if (extender_) extender_->setUp(up);
}

}  // namespace trainyard::sim
