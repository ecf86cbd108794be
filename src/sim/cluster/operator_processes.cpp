#include "sim/cluster/operator_processes.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "operator/operator.h"
#include "sim/cluster/pausable_executor.h"
#include "telemetry/metrics.h"

namespace trainyard::sim {

struct OperatorProcesses::Process {
  explicit Process(base::Executor& world) : executor(world) {}

  PausableExecutor executor;
  std::unique_ptr<ClusterClient> client;
  telemetry::MetricsRegistry metrics;
  std::unique_ptr<operator_::Operator> instance;
};

OperatorProcesses::OperatorProcesses(ClusterContext& context, ClusterClients& clients)
    : context_(context), clients_(clients) {}

OperatorProcesses::~OperatorProcesses() = default;

int OperatorProcesses::start() {
  const int number = ++last_;
  const std::string name = fmt::format("operator-{}", number);
  auto process = std::make_unique<Process>(context_.loop);
  process->client =
      clients_.connect(name, context_.options.operatorFaults, process->executor, process->executor.door());
  process->instance = std::make_unique<operator_::Operator>(
      operator_::OperatorOptions{.identity = name,
                                 .settings = context_.options.settings,
                                 .workloadKinds = context_.options.owners ? std::vector<std::string>{"Job"}
                                                                          : std::vector<std::string>{},
                                 .policy = context_.options.policy,
                                 .provisioning = context_.options.provisioning},
      operator_::Operator::Dependencies{.api = process->client->api,
                                        .leaseApi = process->client->leaseApi,
                                        .executor = process->executor,
                                        .metrics = process->metrics,
                                        .rng = context_.rng.split(),
                                        .log = context_.log.named(name)});
  process->client->api.guardWrites([instance = process->instance.get()] { return instance->leading(); });
  // A process that loses the lease ends; its Deployment restarts it.
  process->instance->onLeadershipLost([this, number] {
    kill(number);
    context_.loop.postAfter(std::chrono::seconds(1), [this] { start(); });
  });
  process->instance->start();
  processes_.emplace(number, std::move(process));
  return number;
}

void OperatorProcesses::kill(int number) {
  const auto found = processes_.find(number);
  if (found == processes_.end()) return;
  // A call of the operator itself may lead here, so it is destroyed later, on the loop.
  dying_.push_back(std::move(found->second));
  processes_.erase(found);
  context_.loop.post([this] { dying_.clear(); });
}

void OperatorProcesses::stop(int number) {
  const auto found = processes_.find(number);
  if (found == processes_.end()) return;
  found->second->instance->shutDown([this, number] { kill(number); });
}

void OperatorProcesses::pause(int number) {
  if (const auto found = processes_.find(number); found != processes_.end()) found->second->executor.pause();
}

void OperatorProcesses::resume(int number) {
  if (const auto found = processes_.find(number); found != processes_.end()) found->second->executor.resume();
}

std::string OperatorProcesses::metricsOf(int number) const {
  const auto found = processes_.find(number);
  return found == processes_.end() ? "" : found->second->metrics.text();
}

std::vector<int> OperatorProcesses::numbers() const {
  std::vector<int> numbers;
  for (const auto& [number, process] : processes_) numbers.push_back(number);
  return numbers;
}

std::optional<int> OperatorProcesses::leader() const {
  for (const auto& [number, process] : processes_) {
    if (process->instance->leading()) return number;
  }
  return std::nullopt;
}

}  // namespace trainyard::sim
