#include "simulation/world.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "simulation/objects.h"

namespace trainyard::simulation {
namespace {

using namespace std::chrono_literals;

// Far more than any seed needs: a run that reaches it is in an endless loop.
constexpr std::uint64_t kMaxSteps = 2'000'000;

int numberOf(const std::string& client) {
  int number = 0;
  const std::size_t at = client.rfind('-') + 1;
  std::from_chars(client.data() + at, client.data() + client.size(), number);
  return number;
}

sim::ClusterOptions clusterOptions(const Scenario& scenario, Chaos& chaos) {
  sim::ClusterOptions options;
  options.seed = scenario.seed;
  options.latency = scenario.latency;
  options.watchLag = scenario.watchLag;
  options.extender = scenario.extender;
  options.owners = scenario.owners;
  options.policy = scenario.policy;
  options.operatorFaults = &chaos;
  // Short timeouts: what takes minutes in a cluster must happen within a short virtual time.
  options.settings.startDeadline = 25s;
  options.settings.unschedulableGrace = 5s;
  options.policy.unreachableGrace = 8s;
  options.settings.backoffMax = 8s;
  options.nodeLifecycle = {.monitorPeriod = 2s, .monitorGrace = 4s, .orphanGrace = 6s};
  options.scheduler.queue.maxBackoff = 4s;
  options.invariants.partlyReleased = 100s;
  return options;
}

}  // namespace

World::World(Scenario scenario, const RunOptions& options)
    : scenario_(std::move(scenario)),
      types_(options.types),
      log_(options.log ? base::makeStderrSink() : nullptr),
      trace_(options.trace),
      chaos_(scenario_.odds, base::Rng(scenario_.seed).split(), trace_) {}

World::~World() = default;

bool World::build() {
  sim::ClusterOptions options = clusterOptions(scenario_, chaos_);
  options.types = types_;
  options.log = log_.get();
  auto created = sim::SimulatedCluster::create(options);
  if (!created) {
    problem(created.error().message);
    return false;
  }
  cluster_ = std::move(*created);
  laws_ = std::make_unique<ProtocolLaws>(cluster_->observer(), cluster_->loop());
  const auto readPod = [this](const model::ObjectKey& key) {
    return cluster_
        ->request(net::Method::kGet, fmt::format("/api/v1/namespaces/{}/pods/{}", key.ns, key.name))
        .value_or(std::string());
  };
  nodeWishes_ = std::make_unique<NodeConstraintLaws>(scenario_, cluster_->observer(), readPod,
                                                     [this](std::string what) { problem(std::move(what)); });
  service_ = std::make_unique<ServiceLaws>(scenario_, cluster_->observer(),
                                           [this](std::string what) { problem(std::move(what)); });
  chaos_.attach({.loop = cluster_->loop(),
                 .kill = [this](const std::string& client) { killAndReplace(numberOf(client)); },
                 .pause = [this](const std::string& client,
                                 base::Instant::duration span) { pause(numberOf(client), span); }},
                truth(), *laws_);
  // Queues that lend and reclaim, and the ranking of jobs.
  std::vector<std::string> setting;
  const bool ranked = std::any_of(scenario_.jobs.begin(), scenario_.jobs.end(),
                                  [](const JobPlan& plan) { return !plan.priority.empty(); });
  if (ranked) setting = priorityClassesJson();
  for (const QueuePlan& queue : scenario_.queues) setting.push_back(queueJson(queue));
  if (scenario_.defaultCpus > 0) setting.push_back(limitRangeJson(scenario_.defaultCpus));
  for (const std::string& each : setting) {
    if (const auto made = cluster_->create(each); !made) problem(made.error().message);
  }
  const auto added = cluster_->addNodes(
      scenario_.nodes,
      {.gpus = scenario_.gpusOnNode, .cpus = 64, .memory = "256Gi", .nodesInRack = scenario_.nodesInRack});
  if (!added) problem(added.error().message);
  return added.has_value();
}

RunResult World::run() {
  if (!build()) return std::move(result_);
  runFor(300ms);
  for (int i = 0; i < scenario_.operators; ++i) cluster_->operators().start();
  const base::Instant begin = cluster_->loop().now();
  for (const JobPlan& plan : scenario_.jobs) {
    cluster_->loop().postAt(begin + plan.submitAt, [this, &plan] { submit(plan); });
  }
  for (const TroublePlan& trouble : scenario_.troubles) {
    cluster_->loop().postAt(begin + trouble.at, [this, &trouble] { strike(trouble); });
  }
  runFor(scenario_.length);
  chaos_.end();
  heal();
  if (scenario_.lending) serve();
  settle();
  checkEnd();
  result_.trace = trace_.hash();
  result_.lines = trace_.lines();
  result_.hits = chaos_.hits();
  if (!result_.problems.empty()) result_.left = describeEnd();
  return std::move(result_);
}

void World::runFor(base::Instant::duration span) {
  const base::Instant end = cluster_->loop().now() + span;
  while (steps_ < kMaxSteps && cluster_->step(end)) ++steps_;
  if (steps_ < kMaxSteps) cluster_->loop().runUntil(end);
}

void World::submit(const JobPlan& plan) {
  if (plan.owner == OwnerPlan::kNone && job(plan.name)) return;
  const bool asksCpu = scenario_.defaultCpus == 0;
  const auto made =
      cluster_->create(plan.owner == OwnerPlan::kNone ? jobJson(plan, asksCpu) : ownerJson(plan, asksCpu));
  if (!made && plan.owner != OwnerPlan::kNone && made.error().code == base::ErrorCode::kAlreadyExists) return;
  if (!made) return problem(fmt::format("job {} was refused: {}", plan.name, made.error().message));
  submitted_.insert(plan.name);
}

RunResult runSeed(std::uint64_t seed, const RunOptions& options) {
  return World(drawScenario(seed, options.draw), options).run();
}

}  // namespace trainyard::simulation
