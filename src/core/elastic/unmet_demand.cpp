#include "core/elastic/unmet_demand.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/elastic/user_scale.h"
#include "core/resize.h"

namespace trainyard::core {
namespace {

const model::Role& roleOf(const model::Job& job) { return *job.spec.findRole(job.spec.elastic->role); }

std::int64_t gpusOf(const model::Resources& each) { return std::max<std::int64_t>(each.gpus(), 1); }

// The most members of any job.
constexpr std::int64_t kMaxMembers = 1'000'000;

}  // namespace

UnmetDemand::UnmetDemand(const Gangs& gangs) : in_(gangs) {
  const std::size_t nodes = in_.ledger.nodes().size();
  poolsOn_.resize(nodes);
  usable_.assign(nodes, 0);
  sumCapacity();
  const model::Policy& policy = in_.snapshot.policy;
  const std::string typeLabel = policy.mixGpuTypes ? std::string() : policy.gpuTypeLabel;
  for (const auto& job : in_.missing) {
    const auto home = joinLimitsOf(*job, roleOf(*job), typeLabel, in_.ledger, in_.domains);
    if (!home) continue;
    Pool& pool = poolOf(*job, roleOf(*job), *home);
    const int misses = desiredMembers(*job) - elasticMembers(*job);
    if (misses <= pool.capacity || worthPausing(*job, pool.capacity, in_.snapshot)) pool.members += misses;
  }
  takeFree();
}

void UnmetDemand::sumCapacity() {
  for (const Ledger::NodeCapacity& node : in_.ledger.nodes())
    capacity_.push_back(node.node->takesPods() ? node.free : model::Resources());
  for (const auto& job : in_.surplus) {
    const model::Resources& each = roleOf(*job).shape.requests;
    for (const model::Assignment& place : lastMembers(*job, elasticMembers(*job) - desiredMembers(*job))) {
      const auto node = in_.ledger.find(place.node);
      if (!node || !in_.ledger.nodes()[*node].node->takesPods()) continue;
      for (std::size_t i = 0; i < place.indices.size(); ++i) capacity_[*node].add(each);
    }
  }
}

UnmetDemand::Pool& UnmetDemand::poolOf(const model::Job& job, const model::Role& role,
                                       const JoinLimits& home) {
  const Domains::Range domain = in_.domains.domainOf(home.required, in_.domains.positionOf(home.anchor));
  const auto [pool, isNew] =
      pools_.try_emplace(fmt::format("{}/{}/{}-{}/{}", job.spec.templateHash, role.name, domain.begin,
                                     domain.end, home.gpuType != nullptr ? *home.gpuType : ""));
  if (isNew) pool->second = makePool(role, home, domain);
  return pool->second;
}

UnmetDemand::Pool UnmetDemand::makePool(const model::Role& role, const JoinLimits& home,
                                        Domains::Range domain) const {
  Pool pool;
  pool.each = role.shape.requests;
  NodeRefusals::Answers& known = in_.refusals.of(role.shape);
  for (std::size_t position = domain.begin; position < domain.end; ++position) {
    const std::uint32_t index = in_.domains.nodeAt(position);
    const model::Node& node = *in_.ledger.nodes()[index].node;
    const std::int64_t fits =
        node.takesPods() ? capacity_[index].timesCovered(pool.each, kMaxMembers - pool.capacity) : 0;
    if (fits <= 0 || !home.hasType(node) || !known.mayUse(index, node, role.shape)) continue;
    pool.capacity += fits;
    pool.nodes.push_back(index);
  }
  return pool;
}

void UnmetDemand::takeFree() {
  std::vector<model::Resources> free;
  for (const Ledger::NodeCapacity& node : in_.ledger.nodes()) free.push_back(node.free);
  for (auto& [key, pool] : pools_) {
    std::int64_t left = std::min(pool.members, pool.capacity);
    if (left <= 0) continue;
    for (const std::uint32_t node : pool.nodes) {
      usable_[node] = 1;
      const std::int64_t fits = free[node].timesCovered(pool.each, left);
      for (std::int64_t i = 0; i < fits; ++i) free[node].subtract(pool.each);
      left -= fits;
    }
    pool.gpus = left * gpusOf(pool.each);
    for (const std::uint32_t node : pool.nodes) {
      if (pool.gpus > 0) poolsOn_[node].push_back(&pool);
    }
  }
}

bool UnmetDemand::couldUseAny(const std::vector<model::Assignment>& assignments) const {
  return std::any_of(assignments.begin(), assignments.end(), [&](const model::Assignment& place) {
    const auto node = in_.ledger.find(place.node);
    return node && usable_[*node] != 0;
  });
}

int UnmetDemand::take(const model::Job& job, int most) {
  std::vector<std::pair<int, std::size_t>> members;  // the last first
  for (const model::Assignment& place : lastMembers(job, most)) {
    const auto node = in_.ledger.find(place.node);
    for (const int index : place.indices.values()) {
      if (node) members.emplace_back(-index, *node);
    }
  }
  std::sort(members.begin(), members.end());
  const int size = elasticMembers(job);
  int gives = 0;
  for (const auto& [index, node] : members) {
    const auto& pools = poolsOn_[node];
    const auto misses =
        std::find_if(pools.begin(), pools.end(), [](const Pool* pool) { return pool->gpus > 0; });
    if (misses == pools.end()) continue;
    (*misses)->gpus -= gpusOf(roleOf(job).shape.requests);
    gives = size + index;
  }
  return gives;
}

}  // namespace trainyard::core
