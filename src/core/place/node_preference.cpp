#include "core/place/node_preference.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/process_group.h"

namespace trainyard::core {
namespace {

using base::saturatingAdd;
using base::saturatingMultiply;
using base::saturatingSubtract;

TaskShape demandOf(const PlaceProblem::Kind& kind, std::int64_t count) {
  const model::Resources& each = kind.shape->requests;
  return {saturatingMultiply(each.cpu.value, count), saturatingMultiply(each.memory.value, count),
          saturatingMultiply(each.gpus(), count), kWholeDevice, 0};
}

bool serversAmong(const std::vector<model::Assignment>& assignments, const model::NodeName& here) {
  return std::any_of(assignments.begin(), assignments.end(), [&](const model::Assignment& each) {
    return each.node == here && model::sendsParameters(each.role);
  });
}

bool holdsServers(const Ledger::Holding& holding, const model::NodeName& here) {
  if (holding.pod != nullptr) return holding.pod->member && model::sendsParameters(holding.pod->member->role);
  const model::GangRecord& gang = holding.job->status.gang;
  if (gang.placed && serversAmong(gang.placed->assignments, here)) return true;
  if (gang.proposal) return serversAmong(gang.proposal->add, here);
  // It was taken in this cycle, and the ledger does not record the role: the amount identifies it.
  const auto& roles = holding.job->spec.roles;
  return std::any_of(roles.begin(), roles.end(), [&](const model::Role& role) {
    if (!model::sendsParameters(role.name)) return false;
    const std::int64_t each = role.shape.requests.cpu.value;
    return each > 0 && holding.amount == role.shape.requests.times(holding.amount.cpu.value / each);
  });
}

}  // namespace

std::int64_t NodePreference::growth(const PlaceProblem::Kind& kind, std::int64_t count,
                                    std::size_t position) {
  if (problem_->request().mix == nullptr) return 0;
  return growth(demandOf(kind, count), position);
}

std::int64_t NodePreference::growthByAll(std::size_t position) {
  if (problem_->request().mix == nullptr) return 0;
  TaskShape all;
  for (const PlaceProblem::Kind& kind : problem_->kinds()) {
    const TaskShape demand = demandOf(kind, kind.count);
    all.cpu = saturatingAdd(all.cpu, demand.cpu);
    all.memory = saturatingAdd(all.memory, demand.memory);
    all.devices = saturatingAdd(all.devices, demand.devices);
  }
  return growth(all, position);
}

std::int64_t NodePreference::growth(const TaskShape& taken, std::size_t position) {
  const std::int64_t* capacity = problem_->capacityAt(position);
  const std::int64_t cpu = capacity[PlaceProblem::kCpu];
  const std::int64_t memory = capacity[PlaceProblem::kMemory];
  const std::int64_t gpus = problem_->busyness(position).freeGpus;
  const std::int64_t left = std::max<std::int64_t>(0, saturatingSubtract(gpus, taken.devices));
  return saturatingSubtract(
      fragmentationOf(saturatingSubtract(cpu, taken.cpu), saturatingSubtract(memory, taken.memory), left),
      fragmentationOf(cpu, memory, gpus));
}

std::int64_t NodePreference::fragmentationOf(std::int64_t cpu, std::int64_t memory, std::int64_t gpus) {
  if (gpus == 0) return 0;
  const auto hash = static_cast<std::uint64_t>(cpu) * 0x9E3779B97F4A7C15U ^
                    static_cast<std::uint64_t>(memory) * 0xC2B2AE3D27D4EB4FU ^
                    static_cast<std::uint64_t>(gpus) * 0x165667B19E3779F9U;
  Known& known = known_[hash >> 56U];
  if (known.gpus != gpus || known.cpu != cpu || known.memory != memory) {
    DeviceCapacity capacity;
    capacity.cpu = cpu;
    capacity.memory = memory;
    capacity.whole = gpus;
    known = {cpu, memory, gpus, fragmentation(capacity, *problem_->request().mix)};
  }
  return known.fragmentation;
}

bool NodePreference::sharesNetwork(std::size_t position) {
  if (shares_.empty()) shares_.assign(problem_->domains().nodeCount(), Asked::kNotYet);
  Asked& known = shares_[position];
  if (known == Asked::kNotYet) {
    const std::size_t node = problem_->domains().nodeAt(position);
    known = problem_->ledger().hostsSpreadGang(node, problem_->request().job) ? Asked::kYes : Asked::kNo;
  }
  return known == Asked::kYes;
}

bool NodePreference::hostsServers(std::size_t position) {
  if (servers_.empty()) servers_.assign(problem_->domains().nodeCount(), Asked::kNotYet);
  Asked& known = servers_[position];
  if (known == Asked::kNotYet) {
    known = Asked::kNo;
    const model::NodeName& here = problem_->node(position).name;
    problem_->ledger().forEachHolding(problem_->domains().nodeAt(position), [&](const Ledger::Holding& each) {
      if (each.job == nullptr || each.job == problem_->request().job) return;
      if (holdsServers(each, here)) known = Asked::kYes;
    });
  }
  return known == Asked::kYes;
}

}  // namespace trainyard::core
