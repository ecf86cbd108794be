#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/earliest_timer.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "core/autoscaling/nodes_wanted.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "model/provisioning.h"
#include "operator/job_events.h"
#include "operator/nodes/found_request.h"
#include "operator/nodes/nodes_condition.h"
#include "operator/nodes/nodes_metrics.h"
#include "operator/nodes/placeholder_pods.h"
#include "operator/nodes/provisioning_requests.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Requests nodes from autoscalers for gangs that no plan can place, as core/autoscaling/nodes_wanted.h
// decides, and reports the result in the job's condition. Tracks only jobs that want nodes; if the policy
// requests no nodes, it does nothing at all.
//
// The requests are in the API, owned by the job, so that a successor finds them. The condition is written
// before a request is withdrawn, and after it is made. Lives on the executor's loop.
class NodesKeeper {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    JobEvents& events;
    telemetry::MetricsRegistry& metrics;
    base::Logger log;
    std::function<bool()> leading;
    std::function<base::Rng()> rng;  // called only when it is needed
  };

  explicit NodesKeeper(Dependencies dependencies);
  ~NodesKeeper() { *alive_ = false; }
  NodesKeeper(const NodesKeeper&) = delete;
  NodesKeeper& operator=(const NodesKeeper&) = delete;

  // Call when this replica starts to lead.
  void start();
  void setPolicy(const model::ProvisioningPolicy& policy, const std::vector<model::TopologyLevel>& levels);

 private:
  using JobPtr = std::shared_ptr<const model::Job>;

  struct State {
    model::Uid uid = {};
    core::NodesHistory memory = {};
    bool busy = false;
    base::Instant notBefore = base::Instant::min();
  };
  struct Open {
    int all = 0;
    std::map<std::string, int> byNamespace = {};
    void add(const std::string& ns) {
      ++all;
      ++byNamespace[ns];
    }
  };
  struct Asking {
    JobPtr job;
    int attempt = 0;
    bool fresh = true;  // false: the rest of a request that was begun
  };
  // What one look at all jobs finds.
  struct Look {
    ProvisioningRequests::Newest newest;
    std::vector<Asking> asking = {};
    Open open = {};
  };

  void note(const model::ObjectKey& key, const JobPtr& job);
  void lookSoon(base::Instant::duration delay = {});
  void look();
  [[nodiscard]] std::optional<base::Instant> decide(const model::ObjectKey& key, State& state, Look& look);
  void requestWithinLimit(Look& look);
  [[nodiscard]] static bool remembers(const model::Job& job, const State& state);
  [[nodiscard]] std::optional<FoundRequest> find(const model::Job& job, const State& state,
                                                 const Look& look) const;
  void ask(const Asking& asking);
  [[nodiscard]] base::Result<ApiCalls> creation(const Asking& asking);
  void withdraw(const JobPtr& job, const FoundRequest& found, const core::NodesDecision& decision);
  void withdrawn(const model::Job& job, const FoundRequest& found, const core::NodesDecision& decision);
  void refused(const JobPtr& job, int attempt, const std::string& why);
  void report(const JobPtr& job, const core::NodesReport& report);
  void free(const model::ObjectKey& key, base::Instant::duration pause = {});

  Dependencies deps_;
  model::ProvisioningPolicy policy_;
  std::vector<model::TopologyLevel> levels_;
  std::map<model::ObjectKey, State> jobs_;  // that want nodes or have the condition
  ProvisioningRequests requests_;
  PlaceholderPods placeholders_;
  NodesMetrics metrics_;
  NodesCondition condition_;
  bool started_ = false;
  base::EarliestTimer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
