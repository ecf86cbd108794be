#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "core/gang/settings.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "model/owner_kinds.h"
#include "operator/evidence_collector.h"
#include "operator/job_events.h"
#include "operator/operator_metrics.h"

namespace trainyard::operator_ {

// What carrying out plans needs.
struct ExecutorDependencies {
  kube::ApiClient& api;
  base::Executor& executor;
  kube::ClusterCache& cache;
  JobEvents& events;
  OperatorMetrics& metrics;
  base::Logger log;
  std::string schedulerName = {};  // of the pods; empty: the cluster's default scheduler
  core::Settings settings = {};
  std::string launcherImage = {};  // of trainyard-launch; empty: jobs that need it are refused
  Offload offload = {};            // for the logs of failed gangs
  // Gets the answer to a write of a Gang's owner. No plan may rest on an older state of the owner: it would
  // look as if another client had stopped it.
  std::function<void(const model::OwnerKind& kind, std::string_view object)> ownerWritten = {};
};

}  // namespace trainyard::operator_
