#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "operator/cluster_view.h"
#include "operator/cycle_runner.h"
#include "operator/free_gpu_metrics.h"
#include "operator/leader_tasks.h"
#include "operator/leadership.h"
#include "operator/metrics_refresher.h"
#include "operator/operator_metrics.h"
#include "operator/operator_options.h"
#include "operator/recorded_events.h"

namespace trainyard::operator_ {

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
  [[nodiscard]] bool synced() const { return cluster_.synced(); }
  // The cluster as the API shows it, without the state that only this process has: for readers that must not
  // change anything.
  [[nodiscard]] model::Snapshot snapshot() const;
  // Must be checked before every write.
  [[nodiscard]] bool leading() const { return leadership_.isHeld(); }

 private:
  void startedLeading(std::int64_t term);
  void release(const std::function<void()>& stopped);

  OperatorOptions options_;
  Dependencies deps_;
  OperatorMetrics metrics_;
  ClusterView cluster_;
  RecordedEvents events_;
  LeaderTasks tasks_;
  CycleRunner cycles_;
  FreeGpuMetrics freeGpus_;
  MetricsRefresher refresher_;
  Leadership leadership_;
  bool released_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
