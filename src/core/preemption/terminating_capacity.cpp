#include "core/preemption/terminating_capacity.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <unordered_set>
#include <utility>

#include "core/timeline/ends.h"
#include "model/claim_time.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

// After its grace period, a pod ends within the kubelet's own time.
constexpr std::chrono::seconds kLate{10};

// Whether the record of its job keeps the pod's place on its node, for this member or for another one.
bool keepsPlace(const model::Job& job, const model::Pod& pod) {
  if (job.deleting || job.finished() || job.spec.run.suspend) return false;
  const model::GangRecord& gang = job.status.gang;
  const auto isHere = [&](const model::Assignment& each) { return each.node == pod.node; };
  const auto isItsOwn = [&](const model::Assignment& each) {
    return isHere(each) && each.role == pod.member->role && each.indices.contains(pod.member->index);
  };
  if (gang.proposal) {
    const model::Proposal& proposal = *gang.proposal;
    if (proposal.phase == model::ProposalPhase::kAborting) {
      if (proposal.kind == model::ProposalKind::kRestart) return false;
    } else if (std::any_of(proposal.add.begin(), proposal.add.end(), isHere)) {
      return true;
    } else if (proposal.removes(pod.member->role, pod.member->index)) {
      return false;
    }
  }
  return gang.placed &&
         std::any_of(gang.placed->assignments.begin(), gang.placed->assignments.end(), isItsOwn);
}

bool leaves(const Ledger::Holding& holding, base::WallTime now) {
  const model::Pod* pod = holding.pod;
  if (pod == nullptr || !pod->terminating || !pod->deletionTime || now >= *pod->deletionTime + kLate)
    return false;
  if (!pod->member || !model::claimsGang(*pod)) return false;
  return holding.job == nullptr || !keepsPlace(*holding.job, *pod);
}

bool isRunning(const Ledger::Holding& holding) { return holding.pod != nullptr && !holding.pod->terminating; }

// The victims of claims that have just been made. A claim whose own pods cannot be created has victims that
// do not terminate until its deadline.
std::unordered_set<model::Uid> victimsOf(const std::vector<std::shared_ptr<const model::Job>>& proposing,
                                         base::WallTime now) {
  std::unordered_set<model::Uid> victims;
  for (const auto& job : proposing) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    if (proposal.phase != model::ProposalPhase::kClaiming) continue;
    const base::WallTime since = proposal.deadline - model::kClaimTime;
    if (since + kMinOverrun <= now) continue;
    for (const model::Victim& each : proposal.victims) victims.insert(each.uid);
  }
  return victims;
}

std::map<std::size_t, model::Resources> byNode(const NodeAmounts& amounts) {
  std::map<std::size_t, model::Resources> sums;
  for (const auto& [node, amount] : amounts) sums[node].add(amount);
  return sums;
}

// By node, what the claim's victims leave.
std::map<std::size_t, model::Resources> leftByVictims(const Claim& claim, const Ledger& ledger) {
  std::map<std::size_t, model::Resources> left;
  for (const Change& each : claim.releases) {
    const NodeAmounts released = each.kind == ChangeKind::kShrink ? amountsOf(*each.job, each.remove, ledger)
                                                                  : capacityHeldBy(*each.job, ledger);
    for (const auto& [node, amount] : released) left[node].add(amount);
  }
  return left;
}

// Whether the amount has some of the resource that is short first.
bool helps(const model::Resources& amount, const model::Resources& free, const model::Resources& wanted) {
  model::Resources with = free;
  with.add(amount);
  const auto before = free.shortfallFor(wanted);
  const auto after = with.shortfallFor(wanted);
  return before && (!after || after->resource != before->resource || after->available > before->available);
}

}  // namespace

TerminatingCapacity::TerminatingCapacity(const Ledger& ledger,
                                         const std::vector<std::shared_ptr<const model::Job>>& proposing,
                                         base::WallTime now) {
  const std::unordered_set<model::Uid> victims = victimsOf(proposing, now);
  for (std::size_t at = 0; at < ledger.nodes().size(); ++at) {
    if (!ledger.nodes()[at].node->ready) continue;
    ledger.forEachHolding(at, [&](const Ledger::Holding& holding) {
      if (leaves(holding, now)) {
        members_.push_back({at, holding.pod, holding.job, holding.amount, *holding.pod->deletionTime});
      } else if (isRunning(holding) && victims.contains(holding.pod->uid)) {
        members_.push_back({at, holding.pod, holding.job, holding.amount, base::WallTime::max()});
      }
    });
  }
  if (members_.empty()) return;
  std::stable_sort(
      members_.begin(), members_.end(),
      [](const TerminatingMember& a, const TerminatingMember& b) { return a.goneBy < b.goneBy; });
  indexByNode();
  for (const auto& job : proposing) take(*job, ledger);
  const auto firstVictim = std::find_if(members_.begin(), members_.end(),
                                        [](const TerminatingMember& each) { return !each.pod->terminating; });
  victims_.assign(firstVictim, members_.end());
  members_.erase(firstVictim, members_.end());
  indexByNode();
}

void TerminatingCapacity::indexByNode() {
  byNode_.clear();
  for (std::size_t i = 0; i < members_.size(); ++i) byNode_[members_[i].node].push_back(i);
}

// Subtracts what a claim under way takes of the members that it names. (Rejected: all that it is to get on
// their nodes. Other victims of the claim give part of that, and what members leave seemed taken.)
void TerminatingCapacity::take(const model::Job& claimant, const Ledger& ledger) {
  const model::Proposal& claim = *claimant.status.gang.proposal;
  if (claim.victims.empty()) return;
  std::unordered_set<model::Uid> named;
  for (const model::Victim& each : claim.victims) named.insert(each.uid);
  for (auto& [node, wanted] : byNode(amountsOf(claimant, claim.add, ledger))) {
    // The ledger counts what the claim's victims do not use themselves.
    ledger.forEachHolding(node, [&, &left = wanted](const Ledger::Holding& holding) {
      if (holding.job == &claimant && holding.pod == nullptr) left.subtractUpTo(holding.amount);
    });
    for (const std::size_t i : at(node)) {
      TerminatingMember& each = members_[i];
      if (!named.contains(each.pod->uid)) continue;
      model::Resources taken = each.left;
      each.left.subtractUpTo(wanted);
      taken.subtract(each.left);
      wanted.subtractUpTo(taken);
    }
  }
}

const std::vector<std::size_t>& TerminatingCapacity::at(std::size_t node) const {
  static const std::vector<std::size_t> kNone;
  const auto found = byNode_.find(node);
  return found == byNode_.end() ? kNone : found->second;
}

NodeAmounts TerminatingCapacity::amounts(base::WallTime goneBy,
                                         const std::set<const model::Job*>& candidates) const {
  NodeAmounts amounts;
  for (const TerminatingMember& each : members_) {
    if (each.goneBy <= goneBy && !candidates.contains(each.job)) amounts.emplace_back(each.node, each.left);
  }
  return amounts;
}

NodeAmounts TerminatingCapacity::leftOfVictims() const {
  NodeAmounts amounts;
  for (const TerminatingMember& each : victims_) amounts.emplace_back(each.node, each.left);
  return amounts;
}

std::vector<base::WallTime> TerminatingCapacity::ends() const {
  std::vector<base::WallTime> ends;
  for (const TerminatingMember& each : members_) {
    if (ends.empty() || ends.back() != each.goneBy) ends.push_back(each.goneBy);
  }
  return ends;
}

std::vector<const TerminatingMember*> TerminatingCapacity::needed(const model::Job& preemptor,
                                                                  const Claim& claim,
                                                                  const Ledger& ledger) const {
  if (members_.empty()) return {};
  std::set<const model::Job*> preempted;
  for (const Change& each : claim.releases) preempted.insert(each.job.get());
  const std::map<std::size_t, model::Resources> leftOn = leftByVictims(claim, ledger);
  std::vector<const TerminatingMember*> needed;
  for (const auto& [node, wanted] : byNode(amountsOf(preemptor, claim.placement.assignments, ledger))) {
    model::Resources free = ledger.nodes()[node].free;
    if (const auto left = leftOn.find(node); left != leftOn.end()) free.add(left->second);
    const std::size_t before = needed.size();
    // A member may help only once others have given another resource, so one pass does not suffice.
    for (bool isMore = true; isMore && !free.covers(wanted);) {
      isMore = false;
      for (const std::size_t i : at(node)) {
        const TerminatingMember& each = members_[i];
        if (preempted.contains(each.job)) continue;
        if (std::find(needed.begin() + static_cast<std::ptrdiff_t>(before), needed.end(), &each) !=
            needed.end())
          continue;
        if (free.covers(wanted) || !helps(each.left, free, wanted)) continue;
        free.add(each.left);
        needed.push_back(&each);
        isMore = true;
      }
    }
  }
  return needed;
}

}  // namespace trainyard::core
