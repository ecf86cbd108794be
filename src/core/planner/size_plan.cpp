#include "core/planner/size_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/planner/job_plan.h"

namespace trainyard::core {
namespace {

using model::Job;

constexpr double kCoreMillis = 1000;
constexpr int kMaxMembers = 10'000;

// One pool for each kind of node; free capacity does not matter for members that are already placed.
class PlacedPools {
 public:
  PlacedPools(const Ledger& ledger, const model::Policy& policy) : ledger_(ledger), policy_(policy) {}

  std::optional<std::size_t> poolOf(const model::NodeName& name) {
    const auto at = ledger_.find(name);
    if (!at) return std::nullopt;
    const model::Node& node = *ledger_.nodes()[*at].node;
    const std::string* type = node.labels.find(policy_.gpuTypeLabel);
    NodePool pool{.gpuType = type == nullptr ? std::string() : *type,
                  .nicBytesPerSecond = nicOf(node),
                  .nodes = 1,
                  .colocatedServers = {1, 1}};
    const auto known = std::find(pools.begin(), pools.end(), pool);
    if (known != pools.end()) return known - pools.begin();
    pools.push_back(std::move(pool));
    return pools.size() - 1;
  }

  std::vector<NodePool> pools;

 private:
  const Ledger& ledger_;
  const model::Policy& policy_;
};

FitCache::Question questionOf(const PlannedRoles& roles, std::vector<NodePool> pools) {
  const model::Resources& requests = roles.workers->shape.requests;
  return {roles.servers != nullptr, requests.gpus(), static_cast<double>(requests.cpu.value) / kCoreMillis,
          std::move(pools)};
}

bool trains(const model::Role& role, const PlannedRoles& roles) {
  return &role == roles.workers || role.name == "chief" || role.name == "master";
}

// A spread of `workers`, with `perNode` on each node, and the servers on separate nodes.
Spread spreadOf(int workers, int perNode, int servers) {
  Spread spread;
  const int full = workers / perNode;
  if (full > 0) spread.parts.push_back({0, full, perNode, 0});
  if (workers % perNode > 0) spread.parts.push_back({0, 1, workers % perNode, 0});
  if (servers > 0) spread.parts.push_back({0, servers, 0, 1});
  return spread;
}

bool sufficient(const Job& job) { return job.spec.plan.profile && missingIn(*job.spec.plan.profile).empty(); }

}  // namespace

std::optional<PlacedPrediction> predictPlaced(const Job& job,
                                              const std::vector<model::Assignment>& assignments,
                                              const Ledger& ledger, const model::Policy& policy) {
  if (!sufficient(job)) return std::nullopt;
  const PlannedRoles roles = plannedRoles(job, *job.spec.plan.profile);
  if (roles.workers == nullptr) return std::nullopt;
  std::map<model::NodeName, std::pair<int, int>> onNode;  // workers, servers
  for (const model::Assignment& each : assignments) {
    const model::Role* role = job.spec.findRole(each.role);
    if (role == nullptr) continue;
    const auto members = static_cast<int>(each.indices.size());
    if (trains(*role, roles)) onNode[each.node].first += members;
    if (role == roles.servers) onNode[each.node].second += members;
  }
  PlacedPools placed(ledger, policy);
  std::map<std::tuple<std::size_t, int, int>, int> alike;
  for (const auto& [node, members] : onNode) {
    const auto pool = placed.poolOf(node);
    if (!pool) return std::nullopt;
    ++alike[{*pool, members.first, members.second}];
  }
  Spread spread;
  for (const auto& [kind, nodes] : alike)
    spread.parts.push_back({std::get<0>(kind), nodes, std::get<1>(kind), std::get<2>(kind)});
  if (spread.workers() == 0) return std::nullopt;
  FitCache once;
  const FitCache::Fit& fit = once.of(job.spec.plan.profile, questionOf(roles, placed.pools));
  PlacedPrediction found{.step = predictStep(spread, fit.pools, fit.fitted.model, fit.fitted.coefficients),
                         .workers = spread.workers(),
                         .servers = spread.servers(),
                         .nodes = spread.nodes()};
  if (!(found.step.samplesPerSecond() > 0)) return std::nullopt;
  const bool oneType = std::all_of(placed.pools.begin(), placed.pools.end(), [&](const NodePool& each) {
    return each.gpuType == placed.pools.front().gpuType;
  });
  if (oneType) found.gpuType = placed.pools.front().gpuType;
  return found;
}

std::optional<model::ShapePlan> planAtSize(const Job& job, const std::vector<model::Assignment>& assignments,
                                           const Ledger& ledger, const model::Policy& policy,
                                           base::WallTime now) {
  if (!job.spec.plan.automatic || !job.status.plan || job.status.plan->roles.empty()) return std::nullopt;
  const auto found = predictPlaced(job, assignments, ledger, policy);
  if (!found) return std::nullopt;
  model::ShapePlan plan = *job.status.plan;
  plan.at = now;
  plan.stepMicros = base::saturatingRound(found->step.seconds * kMicro);
  plan.milliSamplesPerSecond = base::saturatingRound(found->step.samplesPerSecond() * kMilli);
  const PlannedShape shape{.spread = {},
                           .step = found->step,
                           .gpuType = found->gpuType,
                           .workers = found->workers,
                           .servers = found->servers,
                           .nodes = found->nodes};
  plan.message = fmt::format("resized to {}, {}", shapeText(shape), stepText(found->step));
  const PlannedRoles roles = plannedRoles(job, *job.spec.plan.profile);
  for (const model::PlannedRole& each : plan.roles) {
    if (each.name == roles.workers->name && each.replicas + roles.otherWorkers != found->workers)
      plan.message += fmt::format("; {} were planned", each.replicas + roles.otherWorkers);
  }
  return plan;
}

std::vector<model::SpeedPoint> predictedSpeeds(const Job& job, int most, int perNode, const Ledger& ledger,
                                               const model::Policy& policy, FitCache& fits) {
  if (!sufficient(job) || !job.spec.elastic || !job.status.gang.placed) return {};
  const PlannedRoles roles = plannedRoles(job, *job.spec.plan.profile);
  if (roles.workers == nullptr || roles.workers->name != job.spec.elastic->role) return {};
  PlacedPools placed(ledger, policy);
  int servers = 0;
  for (const model::Assignment& each : job.status.gang.placed->assignments) {
    if (placed.pools.empty() && each.role == roles.workers->name && !placed.poolOf(each.node)) return {};
    if (roles.servers != nullptr && each.role == roles.servers->name)
      servers += static_cast<int>(each.indices.size());
  }
  if (placed.pools.empty()) return {};
  const FitCache::Fit& fit = fits.of(job.spec.plan.profile, questionOf(roles, std::move(placed.pools)));
  const auto speedOf = [&](int members) {
    const Spread spread = spreadOf(members + roles.otherWorkers, std::max(perNode, 1), servers);
    return predictStep(spread, fit.pools, fit.fitted.model, fit.fitted.coefficients).samplesPerSecond() *
           kMilli;
  };
  double level = 1;
  if (!job.status.resize.speeds.empty()) {
    const model::SpeedPoint& measured = job.status.resize.speeds.front();
    const double predicted = speedOf(std::clamp(measured.replicas, 1, kMaxMembers));
    if (predicted > 0) level = static_cast<double>(measured.milliSamplesPerSecond) / predicted;
  }
  std::vector<model::SpeedPoint> points;
  const auto add = [&](int members) {
    const double speed = speedOf(members) * level;
    if (speed >= 1 && speed < 1e15) points.push_back({members, base::saturatingRound(speed)});
  };
  most = std::min(most, kMaxMembers);
  for (int members = 1; members < most; members *= 2) add(members);
  add(most);
  return points;
}

}  // namespace trainyard::core
