#pragma once

#include <functional>
#include <map>
#include <memory>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/certificate_keeper.h"
#include "operator/gangs_keeper.h"
#include "operator/job_events.h"
#include "operator/kueue_keeper.h"
#include "operator/nodes/nodes_keeper.h"
#include "operator/operator_metrics.h"
#include "operator/operator_options.h"
#include "operator/orphaned_gangs.h"
#include "operator/pod_groups_served.h"
#include "operator/progress_reader.h"
#include "operator/run_times_keeper.h"
#include "operator/workloads_keeper.h"

namespace trainyard::operator_ {

// What the leader does beside cycles: learns run times, reads the progress of jobs, requests nodes, keeps the
// Gangs of other kinds and the Workloads of Kueue, and renews certificates.
class LeaderTasks {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    WorkloadWatches& workloads;
    KueueWorkloads* kueue;  // null: Kueue is not asked
    JobEvents& events;
    OperatorMetrics& metrics;
    telemetry::MetricsRegistry& registry;
    base::Rng& rng;
    base::Logger log;
    std::function<bool()> leading;
    std::function<void()> findings;  // the next cycle has something to take into account
  };

  LeaderTasks(const OperatorOptions& options, Dependencies dependencies);
  LeaderTasks(const LeaderTasks&) = delete;
  LeaderTasks& operator=(const LeaderTasks&) = delete;

  // Call when this replica starts to lead.
  void start();
  // Call when the policy in the options has changed.
  void takePolicy();
  void stopCertificates() { certificates_.reset(); }

  [[nodiscard]] std::shared_ptr<const model::RunTimes> runTimes() const { return runTimes_.current(); }
  [[nodiscard]] std::map<model::ObjectKey, core::LifeSign> progress() { return progress_.findings(); }

 private:
  const OperatorOptions& options_;
  Dependencies deps_;
  RunTimesKeeper runTimes_;
  ProgressReader progress_;
  NodesKeeper nodes_;
  PodGroupsServed podGroups_;
  GangsKeeper gangs_;
  WorkloadsKeeper workloads_;
  OrphanedGangs orphans_;
  std::unique_ptr<KueueKeeper> kueue_;               // null: Kueue is not asked
  std::unique_ptr<CertificateKeeper> certificates_;  // on the leader only, if the options ask for it
};

}  // namespace trainyard::operator_
