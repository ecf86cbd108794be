#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "core/gang/settings.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/events.h"
#include "kube/freed_nodes.h"
#include "kube/leader_election.h"
#include "kube/reflector.h"
#include "operator/assumed_pods.h"
#include "operator/certificate_keeper.h"
#include "operator/free_gpu_metrics.h"
#include "operator/job_events.h"
#include "operator/nodes/nodes_keeper.h"
#include "operator/operator_metrics.h"
#include "operator/execute/plan_executor.h"
#include "operator/progress_reader.h"
#include "operator/queue_status_writer.h"
#include "operator/run_times_keeper.h"
#include "operator/type_labels.h"
#include "operator/volume_keeper.h"

namespace trainyard::operator_ {

struct OperatorOptions {
  std::string identity;  // unique per process: host name and a random part
  std::string leaseNamespace = "trainyard-system";
  std::string leaseName = "trainyard-operator";
  core::Settings settings = {};
  std::string policyConfigMap = {};  // of the policy file; empty: Events about it name the Lease
  std::string schedulerName = {};    // that binds the pods; empty: the cluster's default scheduler
  std::string launcherImage = "trainyard-launch";  // empty: jobs with checkpoint.mode Launcher are refused
  std::optional<CertificateOptions> certificates = std::nullopt;  // absent: others make them
  model::Policy policy = {};                                      // initial
  model::ProvisioningPolicy provisioning = {};                    // initial
};

// The operator without its process: watches, elects, plans and executes on one executor, so that the
// simulator and the tests run exactly what the program runs.
class Operator {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    kube::ApiClient& leaseApi;  // for the Lease alone: never behind a queue of other requests
    base::Executor& executor;
    telemetry::MetricsRegistry& metrics;
    base::Rng rng;
    base::Logger log;
    Offload offload = {};  // for long work; empty: all runs on the executor's loop
  };

  Operator(OperatorOptions options, Dependencies dependencies);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  void start();
  // After a loss of leadership the callback must end the process: writes may still be in flight.
  void onLeadershipLost(std::function<void()> callback);
  // Stops planning, lets decisions under way end (for 5 s at most), releases the lease and then calls
  // `stopped`.
  void shutDown(std::function<void()> stopped);

  // Takes effect in the next cycle.
  void setPolicy(const model::Policy& policy);
  void setProvisioning(const model::ProvisioningPolicy& policy);
  // If this replica leads, records an Event that the policy file was refused.
  void reportPolicy(const std::string& complaint);

  // All lists have been read once.
  [[nodiscard]] bool synced() const;
  // The cluster as the API shows it, without the state that only this process has: for readers that must not
  // change anything.
  [[nodiscard]] model::Snapshot snapshot() const;
  // Must be checked before every write.
  [[nodiscard]] bool leading() const;

 private:
  void takeFailureRules();
  void startReflectors();
  void requestCycle();
  void runCycle();
  void awaitSync();
  void armWake(const core::Plan& plan);
  void describeSoon();
  void startedLeading(std::int64_t term);
  void jobSettled();
  void releaseLease();

  OperatorOptions options_;
  Dependencies deps_;
  OperatorMetrics metrics_;
  kube::ClusterCache cache_;
  kube::FreedNodes freed_{cache_};
  VolumeKeeper volumes_;
  AssumedPods assumed_;
  TypeLabels types_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  kube::EventRecorder recorder_;
  std::unique_ptr<JobEvents> events_;
  PlanExecutor executor_;
  QueueStatusWriter queueStatus_;
  RunTimesKeeper runTimes_;
  ProgressReader progress_;
  NodesKeeper nodes_;
  FreeGpuMetrics freeGpus_;
  std::unique_ptr<kube::LeaderElection> election_;
  std::unique_ptr<CertificateKeeper> certificates_;  // only on the leader, if options_ ask for it
  std::function<void()> leadershipLost_;

  std::int64_t term_ = 0;
  bool cycleRequested_ = false;
  bool awaitingSync_ = false;
  bool describing_ = false;
  bool stopping_ = false;
  bool released_ = false;
  std::function<void()> stopped_;
  core::CycleCache cycleCache_;
  base::Instant nextCycle_{};
  base::TimerId wake_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
