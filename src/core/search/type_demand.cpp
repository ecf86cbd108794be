#include "core/search/type_demand.h"

#include <algorithm>
#include <iterator>

#include "base/saturating.h"
#include "core/ledger/node_misfit.h"
#include "core/queues/holdings.h"
#include "core/search/gpu_types.h"
#include "model/gang_size.h"

namespace trainyard::core {

using model::Job;

namespace {

std::int64_t gpusOf(const Job& job, const model::Role& role) {
  return base::saturatingMultiply(role.shape.requests.gpus(), model::gangMembers(job, role));
}

}  // namespace

void TypeDemand::readNodes() {
  if (!typeOf_.empty()) return;
  typeOf_.assign(ledger_.nodes().size(), kNoType);
  for (std::size_t d = 0; d < tree_.dimensions().firstGpuNodeResource(); ++d) {
    for (const model::NodeName& name : tree_.capacity().nodesOf(d)) {
      if (const auto node = ledger_.find(name)) typeOf_[*node] = d;
    }
  }
  const auto& nodes = ledger_.nodes();
  allLabelled_ = std::all_of(nodes.begin(), nodes.end(), [&](const Ledger::NodeCapacity& capacity) {
    return capacity.gpus <= 0 || capacity.node->labels.find(snapshot_.policy.gpuTypeLabel) != nullptr;
  });
}

const TypeDemand::Roles& TypeDemand::typesOf(const Job& job, std::uint32_t shape) {
  const auto [known, isNew] = roles_.try_emplace(shape);
  Roles& roles = known->second;
  if (!isNew) return roles;
  readNodes();
  placer_.budget().spend(static_cast<std::int64_t>(typeOf_.size()) + 1);
  for (const model::Role& role : job.spec.roles) {
    auto& types = roles.emplace_back();
    if (role.shape.requests.gpus() <= 0) continue;
    placer_.budget().spend(static_cast<std::int64_t>(typeOf_.size()) * lookCost(role.shape));
    for (std::size_t i = 0; i < typeOf_.size(); ++i) {
      const Ledger::NodeCapacity& capacity = ledger_.nodes()[i];
      if (capacity.gpus <= 0 || capacity.node->deleting || types.contains(typeOf_[i])) continue;
      if (templateMatches(*capacity.node, role.shape)) types.insert(typeOf_[i]);
    }
  }
  return roles;
}

// The fewest GPUs that the gang takes of a type: all, if it keeps to one type, else those of one member.
std::int64_t TypeDemand::minimumOf(const Job& job) {
  std::int64_t all = 0;
  std::int64_t smallest = 0;
  for (const model::Role& role : job.spec.roles) {
    const std::int64_t each = role.shape.requests.gpus();
    if (each <= 0 || model::gangMembers(job, role) <= 0) continue;
    all = base::saturatingAdd(all, gpusOf(job, role));
    smallest = smallest == 0 ? each : std::min(smallest, each);
  }
  const bool keepsToOne =
      !snapshot_.policy.mixGpuTypes && allLabelled_ && cache_.gpuTypes(snapshot_).others().size() > 1;
  return keepsToOne ? all : smallest;
}

std::shared_ptr<const GangPlacer::NodeNames> TypeDemand::closedTo(QueueTree::Index queue, const Job& minimum,
                                                                  std::uint32_t shape) {
  const auto [known, isNew] = closed_.try_emplace({queue, shape});
  if (isNew) known->second = findClosed(queue, minimum);
  return known->second;
}

std::shared_ptr<const GangPlacer::NodeNames> TypeDemand::findClosed(QueueTree::Index queue,
                                                                    const Job& minimum) {
  // A job that names GPU types itself keeps its own choice.
  const std::string& label = snapshot_.policy.gpuTypeLabel;
  if (std::any_of(minimum.spec.roles.begin(), minimum.spec.roles.end(), [&](const model::Role& role) {
        return role.shape.requests.gpus() > 0 && namesLabel(role.shape, label);
      }))
    return nullptr;
  readNodes();
  const std::int64_t takes = minimumOf(minimum);
  auto closed = std::make_shared<GangPlacer::NodeNames>();
  std::set<std::size_t> types;
  for (std::size_t d = 0; d < tree_.dimensions().firstGpuNodeResource(); ++d) {
    const auto& path = tree_.node(queue).path;
    const bool isBeyond =
        std::any_of(path.begin(), path.end(), [&](auto at) { return takes > tree_.node(at).limit[d]; });
    if (!isBeyond) continue;
    const auto nodes = tree_.capacity().nodesOf(d);
    closed->insert(closed->end(), nodes.begin(), nodes.end());
    types.insert(d);
  }
  if (closed->empty()) return nullptr;
  PlaceRequest request = placer_.request(minimum, 0);
  request.closed = closed.get();
  placer_.budget().spend(static_cast<std::int64_t>(typeOf_.size()) + 1);
  if (!fitsWhenEmpty(request, ledger_, placer_.domains())) return nullptr;
  closedTypes_[closed.get()] = std::move(types);
  return closed;
}

Amounts TypeDemand::demandOf(const Job& job, std::uint32_t shape) {
  Amounts demand = core::demandOf(tree_.capacity(), job);
  if (!tree_.dimensions().namesTypes()) return demand;
  const Roles& roles = typesOf(job, shape);
  const std::set<std::size_t>& closed = closedTypes_[placer_.closedTo(job)];
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::set<std::size_t> open;
    std::set_difference(roles[i].begin(), roles[i].end(), closed.begin(), closed.end(),
                        std::inserter(open, open.end()));
    if (open.size() != 1 || *open.begin() == kNoType) continue;
    std::int64_t& ofType = demand[*open.begin()];
    ofType = base::saturatingAdd(ofType, gpusOf(job, job.spec.roles[i]));
  }
  return demand;
}

std::int64_t TypeDemand::mostOf(const Job& job, std::uint32_t shape, std::size_t type) {
  const Roles& roles = typesOf(job, shape);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].contains(type)) most = base::saturatingAdd(most, gpusOf(job, job.spec.roles[i]));
  }
  return most;
}

}  // namespace trainyard::core
