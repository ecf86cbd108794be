#include "operator/leader_tasks.h"

#include <utility>

namespace trainyard::operator_ {

LeaderTasks::LeaderTasks(const OperatorOptions& options, Dependencies dependencies)
    : options_(options),
      deps_(std::move(dependencies)),
      runTimes_({.ns = options_.leaseNamespace}, {.api = deps_.api,
                                                  .executor = deps_.executor,
                                                  .cache = deps_.cache,
                                                  .log = deps_.log.named("run-times"),
                                                  .changed = deps_.findings}),
      progress_({.api = deps_.api,
                 .executor = deps_.executor,
                 .cache = deps_.cache,
                 .metrics = deps_.metrics,
                 .leading = deps_.leading,
                 .findings = deps_.findings}),
      nodes_({.api = deps_.api,
              .executor = deps_.executor,
              .cache = deps_.cache,
              .events = deps_.events,
              .metrics = deps_.registry,
              .log = deps_.log.named("nodes"),
              .leading = deps_.leading,
              .rng = [this] { return deps_.rng.split(); }}),
      podGroups_({.api = deps_.api, .executor = deps_.executor}),
      gangs_({.api = deps_.api,
              .executor = deps_.executor,
              .cache = deps_.cache,
              .events = deps_.events,
              .log = deps_.log.named("gangs"),
              .leading = deps_.leading,
              .podGroupVersion = [this] { return podGroups_.version(); }}),
      workloads_({.api = deps_.api,
                  .executor = deps_.executor,
                  .cache = deps_.cache,
                  .watches = deps_.workloads,
                  .events = deps_.events,
                  .log = deps_.log.named("workloads"),
                  .leading = deps_.leading}),
      orphans_({.api = deps_.api,
                .executor = deps_.executor,
                .cache = deps_.cache,
                .watches = deps_.workloads,
                .events = deps_.events,
                .log = deps_.log.named("orphans"),
                .leading = deps_.leading}) {
  if (deps_.kueue != nullptr) {
    kueue_ = std::make_unique<KueueKeeper>(KueueKeeper::Dependencies{.api = deps_.api,
                                                                     .executor = deps_.executor,
                                                                     .cache = deps_.cache,
                                                                     .workloads = *deps_.kueue,
                                                                     .events = deps_.events,
                                                                     .log = deps_.log.named("kueue"),
                                                                     .leading = deps_.leading});
  }
  takePolicy();
}

void LeaderTasks::start() {
  runTimes_.start();
  progress_.start();
  nodes_.start();
  podGroups_.start();
  gangs_.start();
  workloads_.start();
  orphans_.start();
  if (kueue_) kueue_->start();
  if (!options_.certificates) return;
  certificates_ = std::make_unique<CertificateKeeper>(*options_.certificates, deps_.api, deps_.executor,
                                                      deps_.registry, deps_.log.named("certificates"));
  certificates_->start();
}

void LeaderTasks::takePolicy() { nodes_.setPolicy(options_.provisioning, options_.policy.topology); }

}  // namespace trainyard::operator_
