#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster_clients.h"
#include "sim/cluster/cluster_context.h"

namespace trainyard::sim {

// The processes of the operator in a simulated cluster.
class OperatorProcesses {
 public:
  // The arguments must outlive the object.
  OperatorProcesses(ClusterContext& context, ClusterClients& clients);
  ~OperatorProcesses();
  OperatorProcesses(const OperatorProcesses&) = delete;
  OperatorProcesses& operator=(const OperatorProcesses&) = delete;

  // Starts one more process; the returned number identifies it.
  int start();
  // Kills it without notice, as kill -9 does: requests in flight arrive, answers to it are lost. It takes
  // effect one task later, because an operator's own calls may lead here.
  void kill(int number);
  // Asks it to terminate gracefully; it is removed when that is done.
  void stop(int number);
  // Pauses it until resume(), as SIGSTOP does. Requests in flight arrive.
  void pause(int number);
  void resume(int number);

  [[nodiscard]] std::vector<int> numbers() const;
  // Returns the number of the leader; nullopt if there is none.
  [[nodiscard]] std::optional<int> leader() const;
  // Returns the answer of a process' /metrics.
  [[nodiscard]] std::string metricsOf(int number) const;

 private:
  struct Process;

  ClusterContext& context_;
  ClusterClients& clients_;
  std::map<int, std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> dying_;
  int last_ = 0;
};

}  // namespace trainyard::sim
