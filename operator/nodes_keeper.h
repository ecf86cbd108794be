#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "core/autoscaling/nodes_wanted.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/nodes_request_cache.h"
#include "kube/reflector.h"
#include "model/provisioning.h"
#include "operator/job_events.h"
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
  ~NodesKeeper();
  NodesKeeper(const NodesKeeper&) = delete;
  NodesKeeper& operator=(const NodesKeeper&) = delete;

  // Call when this replica starts to lead.
  void start();
  void setPolicy(const model::ProvisioningPolicy& policy, const std::vector<model::TopologyLevel>& levels);

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  using Answer = base::Result<kube::ApiResponse>;
  using Call = std::function<void(kube::ApiCallback)>;
  using Calls = std::shared_ptr<std::vector<Call>>;

  struct State {
    model::Uid uid = {};
    core::NodesHistory memory = {};
    bool busy = false;
    base::Instant notBefore = base::Instant::min();
  };
  // The request for a job that exists in the API.
  struct Found {
    model::NodesRequest request;
    model::ProvisioningBy by{};
    std::vector<std::shared_ptr<const model::Pod>> placeholders = {};
    std::size_t foreignPods = 0;  // foreign pods with the names of placeholders
  };
  struct Open {
    int all = 0;
    std::map<std::string, int> byNamespace = {};
    void add(const std::string& ns) {
      ++all;
      ++byNamespace[ns];
    }
  };
  enum class Api { kUnknown, kBeingLookedFor, kNone, kV1, kV1Beta1 };
  struct Asking {
    JobPtr job;
    int attempt = 0;
    bool fresh = true;  // false: the rest of a request that was begun
  };

  void note(const model::ObjectKey& key, const JobPtr& job);
  void lookSoon(base::Instant::duration delay = {});
  void look();
  [[nodiscard]] bool ready();
  void lookForApi(Api version);
  void apiFound(Api version);
  [[nodiscard]] std::optional<base::Instant> decide(const model::ObjectKey& key, State& state,
                                                    std::vector<Asking>& asking, Open& open);
  void requestWithinLimit(const std::vector<Asking>& asking, Open& open);
  [[nodiscard]] static bool remembers(const model::Job& job, const State& state);
  [[nodiscard]] bool isReported(const model::Job& job, const core::NodesReport& report) const;
  void listNewest();
  [[nodiscard]] std::optional<Found> find(const model::Job& job) const;
  [[nodiscard]] std::optional<Found> findPlaceholders(const model::Job& job) const;
  [[nodiscard]] bool incomplete(const model::Job& job, const Found& found) const;
  void ask(const Asking& asking);
  [[nodiscard]] base::Result<Calls> requestCalls(const JobPtr& job, int attempt);
  [[nodiscard]] Calls placeholderCalls(const JobPtr& job, int attempt);
  [[nodiscard]] kube::ApiCallback cached(kube::ApiCallback done);
  void withdraw(const JobPtr& job, const Found& found, const core::NodesDecision& decision);
  void writeCondition(const JobPtr& job, const core::NodesReport& report);
  void reported(const JobPtr& job, const core::NodesReport& report, const Answer& answer);
  void refused(const JobPtr& job, int attempt, const std::string& why);
  void run(const Calls& calls, std::size_t next, const std::function<void(const base::Result<void>&)>& done);
  void free(const model::ObjectKey& key, base::Instant::duration pause = {});
  [[nodiscard]] const kube::ResourceType& requestType() const;
  [[nodiscard]] kube::ApiCallback guarded(std::function<void(const Answer&)> callback) const;

  Dependencies deps_;
  model::ProvisioningPolicy policy_;
  std::vector<model::TopologyLevel> levels_;
  std::map<model::ObjectKey, State> jobs_;  // that want nodes or have the condition
  kube::ObjectCache<model::NodesRequest> requests_;
  // The newest request of each job at the last look, by the job's namespace and uid.
  std::map<std::pair<std::string, model::Uid>, std::shared_ptr<const model::NodesRequest>> newest_;
  std::unique_ptr<kube::Reflector> reflector_;
  Api api_ = Api::kUnknown;
  telemetry::Counter asked_;
  telemetry::Counter provisioned_;
  telemetry::Counter failed_;
  telemetry::Gauge open_;
  bool started_ = false;
  base::TimerId timer_{};
  std::optional<base::Instant> timerDue_ = std::nullopt;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
