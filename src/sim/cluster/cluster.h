#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/virtual_loop.h"
#include "core/gang/settings.h"
#include "model/policy.h"
#include "model/provisioning.h"
#include "net/http.h"
#include "sim/api/gc.h"
#include "sim/api/server.h"
#include "sim/api/transport.h"
#include "sim/cluster/invariants.h"
#include "sim/cluster/observer.h"
#include "sim/cluster/pausable_executor.h"
#include "sim/nodes/kubelet.h"
#include "sim/nodes/node_lifecycle.h"
#include "sim/scheduler/scheduler.h"

namespace trainyard::sim {

struct ClusterOptions {
  std::uint64_t seed = 1;
  // The latency of every client's connection, drawn once for each client between half and twice this value.
  std::chrono::microseconds latency{500};
  std::chrono::microseconds watchLag{2'000};
  bool extender = true;
  // The server's types, if many clusters share them on one thread; null: parsed for this cluster.
  std::shared_ptr<const Registry> types = nullptr;
  core::Settings settings = {};
  model::Policy policy = {};  // the initial policy of operators
  model::ProvisioningPolicy provisioning = {};
  SchedulerOptions scheduler = {};
  KubeletOptions kubelet = {};
  NodeLifecycleOptions nodeLifecycle = {};
  InvariantLimits invariants = {};
  // The faults of operators and of all other clients; they must outlive the cluster.
  FaultPlan* operatorFaults = nullptr;
  FaultPlan* otherFaults = nullptr;
  FaultCounts* faultCounts = nullptr;
  base::LogSink* log = nullptr;  // null: no log
  base::LogLevel logLevel = base::LogLevel::kInfo;
};

struct NodeShape {
  std::int64_t gpus = 8;
  std::int64_t cpus = 128;
  std::string memory = "1Ti";
  std::int64_t pods = 110;
  int nodesInRack = 4;
  int racksInBlock = 4;
  int blocksInZone = 4;
};

// A whole cluster in one process, on virtual time: API server, garbage collection, kube-scheduler with the
// guard as its extender, kubelets, node controller, and any number of operators, each with its own lagging
// connection. Deterministic: equal options and calls yield equal runs.
class SimulatedCluster {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<SimulatedCluster>> create(ClusterOptions options);
  // For ClusterOptions::types.
  [[nodiscard]] static base::Result<std::shared_ptr<const Registry>> readTypes();
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  [[nodiscard]] base::VirtualLoop& loop() { return loop_; }
  [[nodiscard]] ApiServer& server() { return *server_; }
  [[nodiscard]] ClusterObserver& observer() { return *observer_; }
  [[nodiscard]] Invariants& invariants() { return *invariants_; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] Kubelets& kubelets() { return *kubelets_; }
  [[nodiscard]] model::Snapshot snapshot() const { return observer_->snapshot(loop_.wallNow()); }

  // Adds nodes n0000, n0001 …, numbered after those added before; racks, blocks and zones are filled in that
  // order. They become ready a little later. An error is the API server's refusal.
  [[nodiscard]] base::Result<void> addNodes(int count, const NodeShape& shape = {});
  // Executes a user's request immediately. Answers other than 2xx are errors.
  base::Result<std::string> request(net::Method method, const std::string& path, const std::string& body = {},
                                    const std::string& contentType = "application/json");
  // Creates an object at the path of its apiVersion, kind and namespace (or `ns`).
  base::Result<std::string> create(const std::string& json, std::string_view ns = "default");
  // Converts every document of a YAML text to JSON.
  [[nodiscard]] static base::Result<std::vector<std::string>> documents(const std::string& yaml);

  // Starts one more operator process; the returned number identifies it.
  int startOperator();
  // Kills it without notice, as kill -9 does: requests in flight arrive, answers to it are lost. It takes
  // effect one task later, because an operator's own calls may lead here.
  void killOperator(int number);
  // Asks it to terminate gracefully; it is removed when that is done.
  void stopOperator(int number);
  // Pauses it until resumeOperator(), as SIGSTOP does. Requests in flight arrive.
  void pauseOperator(int number);
  void resumeOperator(int number);
  [[nodiscard]] std::vector<int> operators() const;
  // Returns the number of the leader; nullopt if there is none.
  [[nodiscard]] std::optional<int> leader() const;
  // Returns the answer of an operator's /metrics.
  [[nodiscard]] std::string metricsOf(int number) const;
  // While it is down, kube-scheduler's calls of the extender fail; it comes back without its memory.
  void setExtenderUp(bool up);

  // Runs one task, then checks the invariants that depend on time; false if nothing is due before `limit`.
  bool step(base::Instant limit = base::Instant::max());
  void runFor(base::Instant::duration span);
  // Runs until `done` is true; returns false if it is not within `limit`.
  bool runUntilTrue(const std::function<bool()>& done, base::Instant::duration limit);

 private:
  struct Client;
  struct OperatorProcess;

  explicit SimulatedCluster(ClusterOptions options);
  base::Result<void> build();
  [[nodiscard]] std::unique_ptr<Client> connect(const std::string& name, FaultPlan* faults,
                                                base::Executor& executor,
                                                std::function<void(base::Task)> deliver = {});

  ClusterOptions options_;
  base::Rng rng_;
  std::unique_ptr<base::LogSink> silence_;
  base::VirtualLoop loop_;
  base::Logger log_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<ClusterObserver> observer_;
  std::unique_ptr<Invariants> invariants_;
  std::unique_ptr<GarbageCollector> garbageCollector_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::unique_ptr<GuardExtender> extender_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Kubelets> kubelets_;
  std::unique_ptr<NodeLifecycle> nodeLifecycle_;
  std::map<int, std::unique_ptr<OperatorProcess>> operators_;
  std::vector<std::unique_ptr<OperatorProcess>> dying_;
  int lastOperator_ = 0;
  int nodes_ = 0;
};

}  // namespace trainyard::sim
