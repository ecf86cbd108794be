#pragma once

#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "core/gang/settings.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
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
};

}  // namespace trainyard::operator_
