#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/virtual_loop.h"
#include "net/http.h"
#include "sim/api/server.h"
#include "sim/cluster/cluster_clients.h"
#include "sim/cluster/cluster_context.h"
#include "sim/cluster/cluster_user.h"
#include "sim/cluster/control_plane.h"
#include "sim/cluster/invariants.h"
#include "sim/cluster/observer.h"
#include "sim/cluster/operator_processes.h"

namespace trainyard::sim {

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

  [[nodiscard]] base::VirtualLoop& loop() { return context_.loop; }
  [[nodiscard]] ApiServer& server() { return *server_; }
  [[nodiscard]] ClusterObserver& observer() { return *observer_; }
  [[nodiscard]] Invariants& invariants() { return *invariants_; }
  [[nodiscard]] Kubelets& kubelets() { return controlPlane_->kubelets(); }
  [[nodiscard]] model::Snapshot snapshot() const { return observer_->snapshot(context_.loop.wallNow()); }

  // Adds nodes n0000, n0001 …, numbered after those added before; racks, blocks and zones are filled in that
  // order. They become ready a little later. An error is the API server's refusal.
  [[nodiscard]] base::Result<void> addNodes(int count, const NodeShape& shape = {}) {
    return user_->addNodes(count, shape);
  }
  // Executes a user's request immediately. Answers other than 2xx are errors.
  base::Result<std::string> request(net::Method method, const std::string& path, const std::string& body = {},
                                    const std::string& contentType = "application/json") {
    return user_->request(method, path, body, contentType);
  }
  // Creates an object at the path of its apiVersion, kind and namespace (or `ns`).
  base::Result<std::string> create(const std::string& json, std::string_view ns = "default") {
    return user_->create(json, ns);
  }
  // Converts every document of a YAML text to JSON.
  [[nodiscard]] static base::Result<std::vector<std::string>> documents(const std::string& yaml);

  [[nodiscard]] OperatorProcesses& operators() { return *operators_; }
  [[nodiscard]] const OperatorProcesses& operators() const { return *operators_; }
  // While it is down, kube-scheduler's calls of the extender fail; it comes back without its memory.
  void setExtenderUp(bool up) { controlPlane_->setExtenderUp(up); }

  // Runs one task, then checks the invariants that depend on time; false if nothing is due before `limit`.
  bool step(base::Instant limit = base::Instant::max());
  void runFor(base::Instant::duration span);
  // Runs until `done` is true; returns false if it is not within `limit`.
  bool runUntilTrue(const std::function<bool()>& done, base::Instant::duration limit);

 private:
  explicit SimulatedCluster(ClusterOptions options);
  base::Result<void> build();

  ClusterContext context_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<ClusterObserver> observer_;
  std::unique_ptr<Invariants> invariants_;
  std::unique_ptr<ClusterUser> user_;
  std::unique_ptr<ClusterClients> clients_;
  std::unique_ptr<ControlPlane> controlPlane_;
  std::unique_ptr<OperatorProcesses> operators_;
};

}  // namespace trainyard::sim
