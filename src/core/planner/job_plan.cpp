#include "core/planner/job_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/ledger/node_misfit.h"
#include "core/planner/hardware.h"
#include "core/queues/holdings.h"
#include "model/message_text.h"
#include "model/queue.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::ModelProfile;
using model::Role;

constexpr int kMaxServers = 256;
constexpr int kMaxOnNode = 64;
// Beyond this, similar kinds of nodes are merged, and if that is not enough, the smallest ones are dropped:
// every kind adds cost to each shape that is tried.
constexpr std::size_t kMaxPools = 64;
// The CRD schema's maximum of replicas in a role.
constexpr int kMaxWorkers = 10'000;
// Seconds; a longer step shows an error in the figures.
constexpr double kLongestStep = 1e9;

bool usesServers(const ModelProfile& profile, const Role* servers) {
  return servers != nullptr && profile.exchange != model::GradientExchange::kAllReduce;
}

// Groups nodes that are equal for a plan into pools, in the order of their first nodes.
class Pools {
 public:
  Pools(const PlannedRoles& roles, const PlanningCapacity& available) : roles_(roles), capacity_(available) {
    for (const PlanningCapacity::Each& each : available.nodes) add(each);
  }
  std::vector<NodePool> take() {
    if (pools_.size() > kMaxPools) {
      for (NodePool& pool : pools_) {
        for (int& servers : pool.colocatedServers)
          servers = static_cast<int>(std::bit_floor(static_cast<unsigned>(servers)));
      }
      merge([](const NodePool& pool) { return pool.colocatedServers; });
    }
    if (pools_.size() > kMaxPools)
      merge([](const NodePool& pool) { return std::vector{pool.workersPerNode()}; });
    if (pools_.size() > kMaxPools) {
      std::stable_sort(pools_.begin(), pools_.end(),
                       [](const NodePool& a, const NodePool& b) { return capacityOf(a) > capacityOf(b); });
      pools_.resize(kMaxPools);
    }
    return std::move(pools_);
  }

 private:
  static std::pair<int, int> capacityOf(const NodePool& pool) {
    return {pool.nodes * pool.workersPerNode(), pool.nodes * pool.colocatedServers.front()};
  }

  // Merges pools of equal key, type and network; the merged pool keeps what fits on each of their nodes.
  template <typename KeyOf>
  void merge(KeyOf keyOf) {
    std::vector<NodePool> merged;
    std::map<std::tuple<std::string, double, std::vector<int>>, std::size_t> known;
    for (NodePool& pool : pools_) {
      const auto [at, isNew] =
          known.try_emplace({pool.gpuType, pool.nicBytesPerSecond, keyOf(pool)}, merged.size());
      if (isNew) {
        merged.push_back(std::move(pool));
        continue;
      }
      NodePool& into = merged[at->second];
      into.nodes += pool.nodes;
      for (std::size_t i = 0; i < into.colocatedServers.size(); ++i)
        into.colocatedServers[i] = std::min(into.colocatedServers[i], pool.colocatedServers[i]);
    }
    pools_ = std::move(merged);
  }

  void add(const PlanningCapacity::Each& each) {
    const auto admits = [&](const Role* role) {
      return role != nullptr && templateMatches(*each.node, role->shape);
    };
    const bool takesWorkers = admits(roles_.workers);
    const bool takesServers = admits(roles_.servers);
    if (!takesWorkers && !takesServers) return;
    NodePool pool;
    const std::string* type = each.node->labels.find(capacity_.gpuTypeLabel);
    if (type != nullptr) pool.gpuType = *type;
    pool.nicBytesPerSecond = nicOf(*each.node);
    const int workers =
        takesWorkers
            ? static_cast<int>(each.available.timesCovered(roles_.workers->shape.requests, kMaxOnNode))
            : 0;
    model::Resources left = each.available;
    for (int i = 0; i <= workers; ++i) {
      pool.colocatedServers.push_back(
          takesServers ? static_cast<int>(left.timesCovered(roles_.servers->shape.requests, kMaxServers))
                       : 0);
      left.subtract(roles_.workers->shape.requests);
    }
    if (workers == 0 && pool.colocatedServers.front() == 0) return;
    const auto [known, isNew] =
        indexOf_.try_emplace({pool.gpuType, pool.nicBytesPerSecond, pool.colocatedServers}, pools_.size());
    if (isNew) pools_.push_back(std::move(pool));
    ++pools_[known->second].nodes;
  }

  const PlannedRoles& roles_;
  const PlanningCapacity& capacity_;
  std::vector<NodePool> pools_;
  std::map<std::tuple<std::string, double, std::vector<int>>, std::size_t> indexOf_;
};

// The budget excludes the other roles. Planned workers include the chiefs, so that part is added back.
ShapeLimits::Budget budgetOf(const Job& job, const PlannedRoles& roles,
                             const PlanningCapacity::Limit& limit) {
  const auto each = [&](const Role* role) {
    const auto at = role == nullptr ? limit.each.end() : limit.each.find(role->name);
    return at == limit.each.end() ? 0 : at->second;
  };
  ShapeLimits::Budget budget{limit.gpuType, each(roles.workers), each(roles.servers), limit.most};
  for (const Role& role : job.spec.roles) {
    if (&role != roles.workers && &role != roles.servers)
      budget.most -= base::saturatingMultiply(each(&role), job.spec.startReplicas(role));
  }
  budget.most =
      base::saturatingAdd(budget.most, base::saturatingMultiply(budget.perWorker, roles.otherWorkers));
  return budget;
}

ShapeLimits limitsOf(const Job& job, const ModelProfile& profile, const PlannedRoles& roles,
                     const PlanningCapacity& available) {
  ShapeLimits limits;
  limits.mixTypes = available.mixGpuTypes;
  limits.minWorkers = roles.otherWorkers + 1;
  std::int64_t most = kMaxWorkers;
  const std::int64_t gpus = roles.workers->shape.requests.gpus();
  if (gpus > 0 && job.spec.plan.maxGpus) most = std::min<std::int64_t>(most, *job.spec.plan.maxGpus / gpus);
  for (const PlanningCapacity::Limit& each : available.limits) {
    limits.budgets.push_back(budgetOf(job, roles, each));
    const ShapeLimits::Budget& budget = limits.budgets.back();
    const std::int64_t left = budget.most - (roles.servers == nullptr ? 0 : budget.perServer);
    if (budget.gpuType.empty() && budget.perWorker > 0)
      most = std::min(most, std::max<std::int64_t>(left, 0) / budget.perWorker);
  }
  if (profile.batchSize > 0) most = std::min(most, profile.batchSize);
  if (const auto& elastic = job.spec.elastic; elastic && elastic->role == roles.workers->name) {
    limits.minWorkers = roles.otherWorkers + elastic->minReplicas;
    most = std::min<std::int64_t>(most, roles.otherWorkers + elastic->maxReplicas);
  }
  limits.maxWorkers = static_cast<int>(most);
  limits.maxServers =
      roles.servers == nullptr ? 1 : static_cast<int>(std::min<std::int64_t>(most, kMaxServers));
  return limits;
}

// Returns the tightest limit of the queue's path for each dimension.
std::map<std::size_t, std::int64_t> tightestLimits(const Job& job, const QueueTree& queues,
                                                   QueueTree::Index queue) {
  std::map<std::size_t, std::int64_t> tightest;
  const auto bound = [&](std::size_t dimension, std::int64_t most) {
    const auto [known, isNew] = tightest.try_emplace(dimension, most);
    if (!isNew) known->second = std::min(known->second, most);
  };
  const std::vector<QueueTree::Index>& path = queues.node(queue).path;
  for (const QueueTree::Index above : path) {
    const Amounts& limit = queues.node(above).limit;
    for (std::size_t d = 0; d < limit.size(); ++d) {
      if (limit[d] != QueueTree::kNoLimit) bound(d, limit[d]);
    }
  }
  if (job.spec.preemptible || path.empty()) return tightest;
  // A non-preemptible job must fit beside the nominal quota of other queues.
  for (std::size_t d = 0; d < queues.dimensions().firstGpuNodeResource(); ++d) {
    const std::int64_t others =
        queues.node(QueueTree::kCluster).guaranteed[d] - queues.node(path.front()).guaranteed[d];
    if (others > 0) bound(d, std::max<std::int64_t>(queues.capacity().available()[d] - others, 0));
  }
  return tightest;
}

void addLimits(const Job& job, const QueueTree& queues, PlanningCapacity& available) {
  const auto queue = queues.find(queues.requestedQueueOf(job));
  if (!queue) return;
  const auto tightest = tightestLimits(job, queues, *queue);
  if (tightest.empty()) return;
  std::map<std::string, Amounts> amounts;  // of one member, by role
  for (const Role& role : job.spec.roles) {
    Job one;
    one.spec.roles.push_back(role);
    one.spec.roles.front().replicas = 1;
    amounts[role.name] = demandOf(queues.capacity(), one);
  }
  for (const auto& [dimension, most] : tightest) {
    PlanningCapacity::Limit limit{.resource = queues.dimensions().names()[dimension], .most = most};
    const bool ofType = limit.resource.starts_with(model::kGpuTypePrefix);
    if (ofType) limit.gpuType = limit.resource.substr(model::kGpuTypePrefix.size());
    for (const Role& role : job.spec.roles)
      limit.each[role.name] = ofType ? role.shape.requests.gpus() : amounts[role.name][dimension];
    available.limits.push_back(std::move(limit));
  }
}

std::string noShape(const PlannedRoles& roles, const ShapeLimits& limits,
                    const std::vector<NodePool>& pools) {
  std::int64_t available = 0;
  for (const NodePool& pool : pools)
    available += static_cast<std::int64_t>(pool.nodes) * std::max(pool.workersPerNode(), 0);
  if (available < limits.minWorkers) {
    return fmt::format("no plan: the cluster can hold {} of role {}, and the job needs at least {}",
                       model::counted(static_cast<int>(available), "member"), roles.workers->name,
                       limits.minWorkers);
  }
  if (limits.maxWorkers < limits.minWorkers) {
    return fmt::format("no plan: limits allow {}, and the job needs at least {}",
                       model::counted(std::max(limits.maxWorkers, 0), "worker"), limits.minWorkers);
  }
  if (!limits.budgets.empty()) return "no plan: limits of the queue allow no shape";
  return fmt::format("no plan: workers and a member of role {} do not fit together",
                     roles.servers == nullptr ? "ps" : roles.servers->name);
}

const PlannedShape* secondBest(const std::vector<PlannedShape>& shapes) {
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    if (shapes[i].workers != shapes.front().workers || shapes[i].servers != shapes.front().servers)
      return &shapes[i];
  }
  return nullptr;
}

const ModelProfile& profileOf(const Job& job) {
  static const ModelProfile kNothing;
  return job.spec.plan.profile ? *job.spec.plan.profile : kNothing;
}

}  // namespace

double nicOf(const model::Node& node) {
  const std::string* text = node.labels.find(kNetworkLabel);
  int gigabits = 0;
  if (text != nullptr) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), gigabits);
    if (error != std::errc() || end != text->data() + text->size()) gigabits = 0;
  }
  constexpr double kBytesPerGigabit = 1.25e8;
  return gigabits > 0 ? gigabits * kBytesPerGigabit : kNicBytesPerSecond;
}

std::string missingIn(const ModelProfile& profile) {
  if (profile.batchSize == 0 && profile.batchPerWorker == 0 && profile.measurements.empty())
    return "spec.plan.model.batchSize: is required to plan the job";
  if (!profile.measurements.empty()) return {};
  if (profile.flopsPerSample == 0 && profile.speeds.empty())
    return "spec.plan.model.flopsPerSample: is required to plan the job, or speeds, or measurements";
  if (profile.parameters == 0)
    return "spec.plan.model.parameters: is required to plan the job, or measurements";
  return {};
}

PlannedRoles plannedRoles(const Job& job, const ModelProfile& profile) {
  PlannedRoles roles;
  const auto& all = job.spec.roles;
  roles.workers = job.spec.findRole("worker");
  if (roles.workers == nullptr && job.spec.elastic) roles.workers = job.spec.findRole(job.spec.elastic->role);
  if (roles.workers == nullptr) {
    const auto at =
        std::find_if(all.begin(), all.end(), [](const Role& role) { return role.shape.requests.gpus() > 0; });
    if (!all.empty()) roles.workers = at == all.end() ? &all.front() : &*at;
  }
  for (const std::string_view name : {"ps", "server"}) {
    const Role* servers = job.spec.findRole(name);
    if (roles.servers == nullptr && usesServers(profile, servers) && servers != roles.workers)
      roles.servers = servers;
  }
  for (const Role& role : all) {
    const bool trains = (role.name == "chief" || role.name == "master") && &role != roles.workers;
    if (trains) roles.otherWorkers += job.spec.startReplicas(role);
  }
  return roles;
}

PlanningCapacity planningCapacity(const Job& job, const Ledger& ledger, const QueueTree& queues,
                                  const model::Policy& policy) {
  PlanningCapacity available;
  available.gpuTypeLabel = policy.gpuTypeLabel;
  available.mixGpuTypes = policy.mixGpuTypes;
  for (std::size_t i = 0; i < ledger.nodes().size(); ++i)
    available.nodes.push_back({ledger.nodes()[i].node, ledger.freeWithoutJobs(i)});
  addLimits(job, queues, available);
  return available;
}

JobPlanning planJob(const Job& job, const ModelProfile& profile, const PlanningCapacity& available) {
  JobPlanning planning;
  planning.roles = plannedRoles(job, profile);
  planning.measured = !profile.measurements.empty();
  if (planning.roles.workers == nullptr) return planning.problem = "no plan: the job has no role", planning;
  if (planning.problem = missingIn(profile); !planning.problem.empty()) return planning;
  std::vector<NodePool> pools = Pools(planning.roles, available).take();
  const model::Resources& requests = planning.roles.workers->shape.requests;
  constexpr double kPerCore = 1000;
  FittedProfile fitted = fitProfile(profile, planning.roles.servers != nullptr, requests.gpus(),
                                    static_cast<double>(requests.cpu.value) / kPerCore, pools);
  planning.model = fitted.model;
  planning.coefficients = std::move(fitted.coefficients);
  const ShapeLimits limits = limitsOf(job, profile, planning.roles, available);
  planning.shapes = rankShapes(pools, planning.model, planning.coefficients, limits);
  if (planning.shapes.empty()) planning.problem = noShape(planning.roles, limits, pools);
  return planning;
}

std::string stepText(const StepPrediction& step) {
  static constexpr std::array<std::string_view, 4> kWords{"the computation", "the input", "the network",
                                                          "the exchange within the node"};
  return fmt::format("limited by {}: {:.3g} s computation, {:.3g} s exchange{}",
                     kWords[static_cast<std::size_t>(step.bottleneck)], step.compute, step.exchange,
                     step.input > 0 ? fmt::format(", {:.3g} s input", step.input) : std::string());
}

std::string shapeText(const PlannedShape& shape) {
  std::string text = model::counted(shape.workers, "worker");
  if (shape.servers > 0) text += fmt::format(" and {}", model::counted(shape.servers, "parameter server"));
  text += fmt::format(" on {}", model::counted(shape.nodes, "node"));
  if (!shape.gpuType.empty()) text += fmt::format(" of {}", shape.gpuType);
  return text;
}

model::ShapePlan shapePlanOf(const Job& job, const JobPlanning& planning, base::WallTime now) {
  model::ShapePlan plan;
  plan.generation = job.generation;
  plan.at = now;
  if (planning.shapes.empty()) {
    plan.message = planning.problem;
    return plan;
  }
  const PlannedShape& best = planning.shapes.front();
  if (!(best.step.seconds < kLongestStep)) {
    plan.message = fmt::format(
        "spec.plan.model gives {:.3g} s for a step, but at most {:.3g} s are plausible: check its figures",
        best.step.seconds, kLongestStep);
    return plan;
  }
  for (const Role& role : job.spec.roles) {
    int replicas = job.spec.startReplicas(role);
    if (&role == planning.roles.workers) replicas = best.workers - planning.roles.otherWorkers;
    if (&role == planning.roles.servers) replicas = best.servers;
    plan.roles.push_back({role.name, replicas});
  }
  plan.gpuType = best.gpuType;
  plan.nodes = best.nodes;
  plan.stepMicros = base::saturatingRound(best.step.seconds * kMicro);
  plan.milliSamplesPerSecond = base::saturatingRound(best.step.samplesPerSecond() * kMilli);
  plan.message =
      fmt::format("{}, {}; {}", shapeText(best), stepText(best.step),
                  planning.measured ? "fitted to measured steps" : "by the model's figures, unmeasured");
  if (const PlannedShape* second = secondBest(planning.shapes)) {
    plan.message += fmt::format("; next best: {}, {:.1f} % of its speed", shapeText(*second),
                                100 * second->step.samplesPerSecond() / best.step.samplesPerSecond());
  }
  return plan;
}

bool wantsShape(const Job& job) {
  if (!job.spec.plan.automatic || !job.specError.empty()) return false;
  if (job.status.gang.placed || job.status.gang.proposal) return false;
  return !job.status.plan || job.status.plan->generation != job.generation;
}

std::string missingToPlan(const Job& job) { return missingIn(profileOf(job)); }

model::ShapePlan decideShape(const Job& job, const Ledger& ledger, const QueueTree& queues,
                             const model::Snapshot& snapshot) {
  const JobPlanning planning =
      planJob(job, profileOf(job), planningCapacity(job, ledger, queues, snapshot.policy));
  return shapePlanOf(job, planning, snapshot.now);
}

}  // namespace trainyard::core
