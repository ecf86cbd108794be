#include "core/gang/barrier.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/ledger/node_misfit.h"

namespace trainyard::core {
namespace {

using model::Job;

// Whether `other` must yield the nodes that it shares with `mine`. A placement is older than any proposal.
bool yieldsTo(const Job& other, const Job& mine) {
  if (!mine.status.gang.proposal) return true;
  const auto& theirs = *other.status.gang.proposal;
  const auto& ours = *mine.status.gang.proposal;
  if (theirs.term != ours.term) return theirs.term < ours.term;
  return mine.uid < other.uid;
}

bool holdsPlaceOn(const Job& job, const model::NodeName& node) {
  const auto& add = job.status.gang.proposal->add;
  return std::any_of(add.begin(), add.end(), [&](const model::Assignment& a) { return a.node == node; });
}

bool anotherWillYield(const Job& mine, const model::NodeName& node, const model::SharedList<Job>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const auto& other) {
    return other->uid != mine.uid && other->status.gang.proposal && holdsPlaceOn(*other, node) &&
           yieldsTo(*other, mine);
  });
}

struct NodeDemand {
  model::Resources planned;  // by the templates: the ledger counts these already
  model::Resources created;  // by the pods
  std::vector<const Member*> members;
};

// Why the node is not open to a member that is assigned to it; empty if it is open to all of them.
std::string misfitOf(const Job& job, const NodeDemand& demand, const model::Node& node) {
  const std::string* checked = nullptr;
  for (const Member* member : demand.members) {
    if (checked != nullptr && *checked == member->role) continue;
    checked = &member->role;
    if (auto misfit = nodeMisfit(node, job.spec.findRole(member->role)->shape)) return misfit->text;
  }
  return {};
}

}  // namespace

BarrierResult checkBarrier(const Job& job, const std::vector<Member>& members, const Ledger& ledger,
                           const model::SharedList<Job>& jobs, const LeavingCapacity& leaving) {
  std::map<model::NodeName, NodeDemand> demands;
  for (const Member& member : members) {
    NodeDemand& demand = demands[member.node];
    const model::Role* role = job.spec.findRole(member.role);
    if (role == nullptr)
      return {BarrierVerdict::kAbort, fmt::format("role {} is gone from the spec", member.role), {}};
    demand.planned.add(role->shape.requests);
    demand.created.add(member.pod == nullptr ? role->shape.requests : member.pod->shape.requests);
    demand.members.push_back(&member);
  }

  BarrierResult result;
  for (const auto& [name, demand] : demands) {
    const auto abort = [&](std::string why) {
      result.verdict = BarrierVerdict::kAbort;
      if (result.reason.empty()) result.reason = std::move(why);
    };
    const auto lose = [&](std::string why) {
      abort(std::move(why));
      result.lostNodes.push_back(name);
    };
    const auto at = ledger.find(name);
    if (!at) {
      lose(fmt::format("node {} is gone", name));
      continue;
    }
    const Ledger::NodeCapacity& capacity = ledger.nodes()[*at];
    if (const std::string misfit = misfitOf(job, demand, *capacity.node); !misfit.empty()) {
      lose(fmt::format("node {} {}", name, misfit));
      continue;
    }
    // On each node the ledger counts the larger of the proposal and its victims' pods, not their sum.
    model::Resources ours = demand.planned;
    if (const auto held = leaving.pods.find(name); held != leaving.pods.end()) ours.raiseTo(held->second);
    model::Resources free = capacity.free;
    free.add(ours);
    if (const auto held = leaving.assigned.find(name); held != leaving.assigned.end()) free.add(held->second);
    const auto shortfall = free.shortfallFor(demand.created);
    if (!shortfall) continue;
    if (anotherWillYield(job, name, jobs)) {
      if (result.verdict == BarrierVerdict::kPass) result.verdict = BarrierVerdict::kWait;
      continue;
    }
    std::string why = fmt::format("node {} has {} {} left where {} are needed", name, shortfall->available,
                                  shortfall->resource, shortfall->wanted);
    // The next plan sees what has been taken since the last one. It does not
    // see that pods are larger than their templates.
    if (free.shortfallFor(demand.planned)) {
      abort(std::move(why));
    } else {
      lose(std::move(why));
    }
  }
  return result;
}

}  // namespace trainyard::core
