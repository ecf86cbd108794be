#include "core/elastic/size_problem_builder.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/saturating.h"
#include "core/elastic/unmet_demand.h"
#include "core/order/job_times.h"
#include "core/order/preemption_cost.h"
#include "core/planner.h"

namespace trainyard::core {
namespace {

// Sums of thousands of such values do not overflow.
constexpr double kMaxWorth = 1e14;
// The number of sizes beyond its present one that are considered for one gang.
constexpr int kMaxSizes = 512;

}  // namespace

std::array<std::int64_t, kSizedKinds> sizedAmounts(const model::Resources& amount) {
  return {amount.gpus(), amount.cpu.value, amount.memory.value};
}

bool mayGrowOn(const Ledger& ledger, std::size_t node, const std::vector<char>& kept) {
  return ledger.nodes()[node].node->takesPods() && (kept.empty() || kept[node] == 0);
}

SizeProblem SizeProblemBuilder::build(int maxTouched) {
  describeNodes();
  for (const auto& job : gangs_.mayChange) problem_.jobs.push_back(describe(*job));
  problem_.maxLoss = 2 * static_cast<std::int64_t>(kSizedKinds) * kWhole / kPermille *
                     in_.snapshot.policy.resize.fairnessLossPermille;
  problem_.maxTouched = maxTouched;
  weigh();
  return std::move(problem_);
}

void SizeProblemBuilder::describeNodes() {
  problem_.kinds = kSizedKinds;
  problem_.capacity.assign(kSizedKinds, 0);
  for (std::size_t node = 0; node < in_.ledger.nodes().size(); ++node) {
    const Ledger::NodeCapacity& available = in_.ledger.nodes()[node];
    const bool grows = mayGrowOn(in_.ledger, node, kept_);
    const auto all = sizedAmounts(available.node->allocatable);
    const auto left = sizedAmounts(available.free);
    for (std::size_t k = 0; k < kSizedKinds; ++k) {
      problem_.free.push_back(grows ? std::max<std::int64_t>(left[k], 0) : 0);
      problem_.capacity[k] += available.node->takesPods() ? all[k] : 0;
    }
  }
}

SizeProblem::Job SizeProblemBuilder::describe(const Job& job) {
  SizeProblem::Job described;
  const auto demand = sizedAmounts(elasticRoleOf(job).shape.requests);
  described.demand.assign(demand.begin(), demand.end());
  described.present = elasticMembers(job);
  described.minimum = std::min(desiredMembers(job), described.present);
  described.most =
      std::min({std::max(job.spec.elastic->maxReplicas, described.present), described.present + kMaxSizes});
  if (gangs_.isLeftOut(job)) described.most = described.present;
  describePlaces(job, described);
  described.pool = poolOf(job);
  value(job, described);
  return described;
}

void SizeProblemBuilder::describePlaces(const Job& job, SizeProblem::Job& described) const {
  for (int i = 0; i < described.present; ++i) described.places.push_back(0);
  for (const model::Assignment& each : job.status.gang.placed->assignments) {
    if (each.role != elasticRoleOf(job).name) continue;
    const auto node = in_.ledger.find(each.node);
    for (const int index : each.indices.values()) {
      if (index < described.present && node)
        described.places[static_cast<std::size_t>(index)] = static_cast<std::uint32_t>(*node);
    }
  }
}

std::uint32_t SizeProblemBuilder::poolOf(const Job& job) {
  const bool out = gangs_.isLeftOut(job);
  const auto [known, isNew] = pools_.try_emplace(out ? std::string() : templateKey(job),
                                                 static_cast<std::uint32_t>(problem_.pools.size()));
  if (!isNew) return known->second;
  const model::Role& role = elasticRoleOf(job);
  membersOnANode_.push_back(membersOnANode(role));
  std::vector<char>& pool = problem_.pools.emplace_back(in_.ledger.nodes().size(), 0);
  if (out) return known->second;
  NodeRefusals::Answers& answers = in_.refusals.of(role.shape);
  for (std::size_t i = 0; i < pool.size(); ++i)
    pool[i] = answers.mayUse(i, *in_.ledger.nodes()[i].node, role.shape) ? 1 : 0;
  return known->second;
}

void SizeProblemBuilder::value(const Job& job, SizeProblem::Job& described) const {
  double member = 0;
  for (std::size_t k = 0; k < kSizedKinds; ++k) {
    if (problem_.capacity[k] > 0)
      member += static_cast<double>(described.demand[k]) / static_cast<double>(problem_.capacity[k]);
  }
  const auto gpus = static_cast<int>(elasticRoleOf(job).shape.requests.gpus());
  const int perNode = membersOnANode_[described.pool];
  const SpeedCurve curve(job.status.resize.speeds, declared(job, perNode), {gpus, perNode},
                         in_.snapshot.policy.shapeCosts);
  if (curve.known())
    described.most = std::max(std::min(described.most, 2 * std::max(curve.largestKnown(), described.present)),
                              described.present);
  for (int size = described.minimum; size <= described.most; ++size) {
    const double speed = curve.known() ? curve.speedUp(size) : size;
    described.worth.push_back(
        base::saturatingRound(std::min(speed * member * static_cast<double>(kWhole), kMaxWorth)));
  }
  const std::int64_t present =
      described.worth[static_cast<std::size_t>(described.present - described.minimum)];
  const auto pause = std::chrono::duration<double>(resizePause(job, in_.snapshot)).count();
  const double horizon = std::max(std::chrono::duration<double>(horizonOf(job)).count(), 1.0);
  const double gain = in_.snapshot.policy.resize.gainPermille / static_cast<double>(kPermille);
  constexpr double kMaxCost = 1e12;
  described.cost =
      base::saturatingRound(std::min(static_cast<double>(present) * pause / horizon * gain, kMaxCost));
}

// Returns what the owner declares. Otherwise returns what the profile predicts, until as many sizes have
// been measured as the curve has parameters.
std::vector<model::SpeedPoint> SizeProblemBuilder::declared(const Job& job, int perNode) const {
  constexpr std::size_t kEnough = 3;
  if (!job.spec.elastic->speeds.empty() || job.status.resize.speeds.size() >= kEnough)
    return job.spec.elastic->speeds;
  return predictedSpeeds(job, job.spec.elastic->maxReplicas, perNode, in_.ledger, in_.snapshot.policy,
                         in_.fits);
}

int SizeProblemBuilder::membersOnANode(const model::Role& role) const {
  const model::Resources& each = role.shape.requests;
  constexpr std::int64_t kMax = 1'000;
  std::int64_t most = 1;
  for (const Ledger::NodeCapacity& available : in_.ledger.nodes())
    most = std::max(most, available.node->allocatable.timesCovered(each, kMax));
  return static_cast<int>(most);
}

base::WallTime::duration SizeProblemBuilder::horizonOf(const Job& job) const {
  const base::WallTime::duration cooldown = cooldownOf(job, in_.snapshot.policy);
  const auto left = estimatedRemaining(job, in_.snapshot.now);
  return left ? std::min<base::WallTime::duration>(cooldown, *left) : cooldown;
}

// Queues share by weight; the gangs of a queue share equally.
void SizeProblemBuilder::weigh() {
  constexpr std::int64_t kParts = 840;  // divides evenly by all counts up to 8
  std::map<QueueTree::Index, std::int64_t> gangs;
  for (const auto& job : gangs_.mayChange) ++gangs[in_.queues.queueOf(*job)];
  for (std::size_t i = 0; i < gangs_.mayChange.size(); ++i) {
    const QueueTree::Index queue = in_.queues.queueOf(*gangs_.mayChange[i]);
    problem_.jobs[i].weight =
        std::max<std::int64_t>(1, in_.queues.node(queue).weight * kParts / gangs[queue]);
  }
}

}  // namespace trainyard::core
