#include "core/ledger/ledger_counter.h"

#include <algorithm>

#include "core/ledger/members.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

using model::Assignment;
using model::Job;
using model::Pod;
using model::Proposal;
using model::Resources;

// Returns the node where a pod without a job uses capacity: its node, once it is bound. A pod that is only
// pinned to a node does not count: with a scheduler that does not exist, it would block all nodes for
// nothing. DaemonSet pods are bound at once. nullptr: no node.
const model::NodeName* heldNode(const Pod& pod) {
  return pod.finished() || !pod.bound() ? nullptr : &pod.node;
}

// Returns true if only the scheduler keeps the pod from a node. A pod that is being deleted is never bound.
bool mayBeBound(const Pod& pod) {
  return !pod.finished() && !pod.bound() && pod.pinned && !pod.gated && !pod.terminating;
}

// The uid alone proves nothing: a controller reference can be copied, even into another namespace, and any
// user can write the labels.
bool isMember(const Pod& pod, const Job* job) {
  return job != nullptr && job->key.ns == pod.key.ns && namedAsMember(pod, *job);
}

// The assigned nodes to which a job's record releases members, indexed for many look-ups.
class ReleasedMembers {
 public:
  explicit ReleasedMembers(const Job& job) {
    const model::GangRecord& gang = job.status.gang;
    if (gang.placed) {
      for (const Assignment& each : gang.placed->assignments) add(each, gang.placed->epochOf(each));
    }
    if (gang.proposal) {
      for (const Assignment& each : gang.proposal->add) add(each, gang.proposal->epoch);
    }
    std::sort(places_.begin(), places_.end(), byNode);
  }

  [[nodiscard]] bool has(const Pod& pod) const {
    const std::string_view node = pod.pinned->str();
    auto at = std::lower_bound(places_.begin(), places_.end(), Place{node, 0, nullptr}, byNode);
    for (; at != places_.end() && at->node == node; ++at) {
      if (at->epoch == pod.member->epoch && at->members->role == pod.member->role &&
          at->members->indices.contains(pod.member->index))
        return true;
    }
    return false;
  }

 private:
  struct Place {
    std::string_view node;
    std::int64_t epoch = 0;
    const Assignment* members = nullptr;
  };

  static bool byNode(const Place& a, const Place& b) { return a.node < b.node; }
  void add(const Assignment& members, std::int64_t epoch) {
    places_.push_back({members.node.str(), epoch, &members});
  }

  std::vector<Place> places_;
};

// Moves as much as possible of `wanted` onto `credit`; the rest of `wanted` is not covered yet.
void spend(Resources& wanted, Resources& credit) {
  const auto move = [](std::int64_t& want, std::int64_t& have) {
    const std::int64_t covered = std::max<std::int64_t>(0, std::min(want, have));
    want -= covered;
    have -= covered;
  };
  model::forEachNative([&](const auto& native) { move(native.in(wanted), native.in(credit)); });
  const auto extended = wanted.extendedAll();
  for (const auto& [name, amount] : extended) {
    std::int64_t want = amount;
    std::int64_t have = credit.extended(name);
    move(want, have);
    wanted.setExtended(name, want);
    credit.setExtended(name, have);
  }
}

bool givesUp(const Proposal& proposal) {
  return !proposal.remove.empty() || proposal.kind == model::ProposalKind::kRestart;
}

// Assigned nodes that the proposal removes are not kept: only their pods count while they exist. Those of
// members that have succeeded are not kept either.
Assignment keptOf(const Assignment& assignment, const model::Placed& placed, const Proposal* givingUp) {
  std::vector<int> kept;
  for (const int index : assignment.indices.values()) {
    const bool given = givingUp != nullptr && givingUp->removes(assignment.role, index);
    if (!given && !placed.hasSucceeded(assignment.role, index)) kept.push_back(index);
  }
  return {assignment.node, assignment.role, model::IndexSet(std::move(kept)), assignment.epoch};
}

}  // namespace

// A bound pod counts where it is. An unbound pod counts only if a record releases it to that node: any user
// can write owner reference, labels and affinity, on pods that are never bound.
std::optional<std::size_t> Ledger::Counter::nodeOf(const Ledger& ledger, const Pod& pod, const Job* job) {
  if (!mayBeBound(pod)) return nodeOfForeignPod(ledger, pod);
  return isMember(pod, job) && ReleasedMembers(*job).has(pod) ? ledger.find(*pod.pinned) : std::nullopt;
}

std::optional<std::size_t> Ledger::Counter::nodeOfForeignPod(const Ledger& ledger, const Pod& pod) {
  const model::NodeName* name = heldNode(pod);
  return name == nullptr ? std::nullopt : ledger.find(*name);
}

void Ledger::Counter::count(const JobPods& pods) {
  const Job* job = owner_.job.get();
  std::optional<ReleasedMembers> releasedMembers;
  for (const auto& pod : pods) {
    const bool member = isMember(*pod, job);
    auto node = nodeOfForeignPod(ledger_, *pod);
    if (member && mayBeBound(*pod)) {
      if (!releasedMembers) releasedMembers.emplace(*job);
      if (releasedMembers->has(*pod)) node = ledger_.find(*pod->pinned);
    }
    if (node) add(*node, {.owner = owner_.id, .job = member ? job : nullptr, .pod = pod.get()});
    if (member) members_.push_back({pod.get(), node});
  }
  if (job != nullptr) countAssignments(*job);
}

void Ledger::Counter::countAssignments(const Job& job) {
  const auto& placed = job.status.gang.placed;
  const auto& proposal = job.status.gang.proposal;
  // A job that is being deleted gives up its placement, but its proposal may still release members.
  const bool running = placed && !job.deleting;
  if ((!running && !proposal) || job.finished()) return;
  std::sort(members_.begin(), members_.end(),
            [](const auto& a, const auto& b) { return a.identity() < b.identity(); });
  Credits credits;
  if (running) {
    for (const Assignment& assignment : placed->assignments) {
      const std::int64_t epoch = placed->epochOf(assignment);
      const Proposal* givingUp = proposal && givesUp(*proposal) ? &*proposal : nullptr;
      if (givingUp != nullptr || !placed->succeeded.empty()) {
        hold(job, keptOf(assignment, *placed, givingUp), epoch, credits);
      } else {
        hold(job, assignment, epoch, credits);
      }
    }
  }
  if (!proposal) return;
  creditReplaced(*proposal, credits);
  creditVictims(*proposal, credits);
  for (const Assignment& assignment : proposal->add) hold(job, assignment, proposal->epoch, credits);
}

// A new member inherits from the pod that it replaces: per node the larger of both counts, not their sum.
void Ledger::Counter::creditReplaced(const Proposal& proposal, Credits& credits) const {
  for (const auto& [pod, node] : members_) {
    const bool replaced =
        pod->member->epoch != proposal.epoch && proposal.removes(pod->member->role, pod->member->index);
    if (node && replaced) credits[*node].add(pod->shape.requests);
  }
}

void Ledger::Counter::creditVictims(const Proposal& proposal, Credits& credits) const {
  for (const model::Victim& victim : proposal.victims) {
    const Pod* pod = ledger_.podList_.find(victim.pod);
    if (pod == nullptr || pod->uid != victim.uid) continue;
    std::optional<std::size_t> node;
    if (model::claimsGang(*pod)) {
      const Owner* owner = ledger_.findOwner(model::gangUidOf(*pod));
      node = nodeOf(ledger_, *pod, owner == nullptr ? nullptr : owner->job.get());
    } else {
      node = nodeOfForeignPod(ledger_, *pod);
    }
    if (node) credits[*node].add(pod->shape.requests);
  }
}

// Counts the members of `assignment` that have no pod.
void Ledger::Counter::hold(const Job& job, const Assignment& assignment, std::int64_t epoch,
                           Credits& credits) {
  const auto node = ledger_.find(assignment.node);
  const model::Role* role = job.spec.findRole(assignment.role);
  if (!node || role == nullptr) return;
  const auto open =
      std::count_if(assignment.indices.values().begin(), assignment.indices.values().end(), [&](int index) {
        return !isFilled(std::tuple(std::string_view(assignment.role), index, epoch), *node);
      });
  if (open == 0) return;
  Resources amount = role->shape.requests.times(open);
  if (const auto credit = credits.find(*node); credit != credits.end()) spend(amount, credit->second);
  add(*node, {.owner = owner_.id, .job = &job, .assigned = std::move(amount)});
}

template <typename Identity>
bool Ledger::Counter::isFilled(const Identity& identity, std::size_t node) const {
  auto at = std::lower_bound(
      members_.begin(), members_.end(), identity,
      [](const MemberPod& member, const auto& wanted) { return member.identity() < wanted; });
  for (; at != members_.end() && at->identity() == identity; ++at) {
    if (at->node == node || at->pod->phase == model::PodPhase::kSucceeded) return true;
  }
  return false;
}

void Ledger::Counter::add(std::size_t node, NodeHoldings::Entry entry) {
  owner_.nodes.push_back(static_cast<std::uint32_t>(node));
  ledger_.holdings_.add(node, std::move(entry));
}

}  // namespace trainyard::core
