#include "operator/leader_tasks.h"

#include <utility>

namespace trainyard::operator_ {

LeaderTasks::LeaderTasks(const OperatorOptions& options, Dependencies dependencies)
    : options_(options),
      deps_(std::move(dependencies)),
      runTimes_({.ns = options_.leaseNamespace},
                {deps_.api, deps_.executor, deps_.cache, deps_.log.named("run-times"), deps_.findings}),
      progress_({deps_.api, deps_.executor, deps_.cache, deps_.metrics, deps_.leading, deps_.findings}),
      nodes_({deps_.api, deps_.executor, deps_.cache, deps_.events, deps_.registry, deps_.log.named("nodes"),
              deps_.leading, [this] { return deps_.rng.split(); }}) {
  takePolicy();
}

void LeaderTasks::start() {
  runTimes_.start();
  progress_.start();
  nodes_.start();
  if (!options_.certificates) return;
  certificates_ = std::make_unique<CertificateKeeper>(*options_.certificates, deps_.api, deps_.executor,
                                                      deps_.registry, deps_.log.named("certificates"));
  certificates_->start();
}

void LeaderTasks::takePolicy() { nodes_.setPolicy(options_.provisioning, options_.policy.topology); }

}  // namespace trainyard::operator_
