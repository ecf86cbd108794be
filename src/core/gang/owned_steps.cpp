#include "core/gang/owned_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/gang/gang_proposals.h"
#include "core/gang/lost_node.h"
#include "core/gang/owned_size.h"
#include "core/gang/protocol_steps.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Pod;
using model::Proposal;
using model::ProposalKind;

// The index of the member that the pod is to be; negative: any.
std::int64_t indexOf(const model::Arrival& arrival, int groupSize) {
  if (groupSize <= 0 || arrival.group < 0 || arrival.rank < 0) return arrival.rank;
  return std::int64_t{arrival.group} * groupSize + arrival.rank;
}

// Pods that have arrived; each is taken once.
class ArrivedPods {
 public:
  ArrivedPods(const JobPods& pods, const model::JobSpec& spec) {
    for (const auto& pod : pods) {
      if (mayTakePlace(*pod, spec)) left_.push_back(pod.get());
    }
  }

  // groupSize: of the member's role.
  [[nodiscard]] const Pod* takeRanked(const Member& member, int groupSize) {
    return take([&](const Pod& pod) {
      return pod.arrival->role == member.role && indexOf(*pod.arrival, groupSize) == member.index;
    });
  }
  [[nodiscard]] const Pod* takeUnranked(const Member& member) {
    return take([&](const Pod& pod) { return pod.arrival->role == member.role && pod.arrival->rank < 0; });
  }
  // mayTake: says of the index that a pod's controller gave it whether it may take a place of another index.
  template <typename MayTake>
  [[nodiscard]] const Pod* takeOther(const Member& member, int groupSize, MayTake mayTake) {
    return take([&](const Pod& pod) {
      return pod.arrival->role == member.role && mayTake(indexOf(*pod.arrival, groupSize));
    });
  }

 private:
  template <typename Fits>
  const Pod* take(Fits fits) {
    const auto found = std::find_if(left_.begin(), left_.end(), [&](const Pod* pod) { return fits(*pod); });
    if (found == left_.end()) return nullptr;
    const Pod* pod = *found;
    left_.erase(found);
    return pod;
  }

  std::vector<const Pod*> left_;  // oldest first
};

std::vector<Member> openOf(const std::vector<Member>& members) {
  std::vector<Member> open;
  std::copy_if(members.begin(), members.end(), std::back_inserter(open), isOpen);
  return open;
}

bool anyBound(const std::vector<Member>& members) {
  return std::any_of(members.begin(), members.end(),
                     [](const Member& m) { return m.pod != nullptr && m.pod->bound(); });
}

bool anyReleased(const std::vector<Member>& members) {
  return std::any_of(members.begin(), members.end(), [](const Member& m) {
    return m.pod != nullptr && !m.pod->bound() && !m.pod->finished();
  });
}

std::map<model::NodeName, std::vector<Member>> byNode(const std::vector<Member>& members) {
  std::map<model::NodeName, std::vector<Member>> groups;
  for (const Member& each : members) groups[each.node].push_back(each);
  return groups;
}

std::vector<Member> withPods(std::vector<Member> members) {
  std::erase_if(members, [](const Member& m) { return m.pod == nullptr; });
  return members;
}

// Whether a pod of this index may take the place of another: if the gang has none for it. Indices and places
// part when a Job starts again after some of its pods have succeeded, and when one is scaled down and up
// again. (Rejected: to renumber the places. That is a proposal each time, for what no pod can see.)
// `members`: all of the gang.
bool mayTakeOtherPlace(const std::vector<Member>& members, std::string_view role, std::int64_t index) {
  const auto own = std::find_if(members.begin(), members.end(),
                                [&](const Member& each) { return each.role == role && each.index == index; });
  if (own == members.end()) return true;
  // The place of a pod that is being deleted will be open.
  return !isOpen(*own) && (own->pod == nullptr || !own->pod->terminating);
}

// Bare pods have no owner to wait for.
bool isKnown(const model::Owner& owner) { return owner.known || owner.uid.empty(); }

// A new leader acts on an owner only once its watch has shown it.
GangStep awaitOwner(const Proposal& proposal) {
  GangStep step;
  step.wakeAt = proposal.deadline;
  return step;
}

// The deadline has passed. A gang of which a part runs keeps the places of the rest: its controller may make
// those pods much later.
GangStep endStart(const Job& job, const std::vector<Member>& members, const GangContext& context) {
  if (anyBound(members) && !anyReleased(members)) return commit(mergeProposal(job));
  if (withPods(members).empty()) {
    const std::string& name = job.owner->name.empty() ? job.key.name : job.owner->name;
    const std::string why = fmt::format("{} {} made no pod before the deadline", job.owner->kind, name);
    return abortAttempt(job, {why, {}}, context);
  }
  return abortAttempt(job, missedDeadline(withPods(members)), context);
}

}  // namespace

std::vector<Member> matchArrivals(const Job& job, const std::vector<Member>& members, const PodGroups& pods) {
  std::vector<Member> all = members;
  if (const auto& placed = job.status.gang.placed; placed && job.status.gang.proposal) {
    const std::vector<Member> others = placedMembers(job, *placed, pods.of(job));
    all.insert(all.end(), others.begin(), others.end());
  }
  std::vector<Member> matched = openOf(members);
  for (Member& each : matched) each.pod = nullptr;
  ArrivedPods arrived(pods.arrivals(job.key), job.spec);
  const auto takeEach = [&](auto takeFor) {
    for (Member& each : matched) {
      const model::Role* role = job.spec.findRole(each.role);
      if (each.pod == nullptr && role != nullptr) each.pod = takeFor(each, *role);
    }
  };
  takeEach([&](const Member& m, const model::Role& role) { return arrived.takeRanked(m, role.groupSize); });
  takeEach([&](const Member& m, const model::Role&) { return arrived.takeUnranked(m); });
  takeEach([&](const Member& m, const model::Role& role) {
    return arrived.takeOther(m, role.groupSize,
                             [&](std::int64_t index) { return mayTakeOtherPlace(all, role.name, index); });
  });
  return withPods(std::move(matched));
}

Placing placeArrivals(const Job& job, const std::vector<Member>& members, const GangContext& context) {
  Placing placing;
  const std::vector<Member> arriving = matchArrivals(job, members, context.ledger->pods());
  for (const auto& [node, arrivals] : byNode(arriving)) {
    BarrierResult barrier = checkBarrier(job, arrivals, *context.ledger, *context.jobs);
    if (barrier.verdict == BarrierVerdict::kPass) {
      for (const Member& each : arrivals)
        placing.actions.emplace_back(
            GivePlace{each.pod->key, each.pod->uid, each.role, each.index, each.epoch, each.node});
    } else if (placing.refused.verdict != BarrierVerdict::kAbort) {
      placing.refused = std::move(barrier);
    } else {
      std::move(barrier.lostNodes.begin(), barrier.lostNodes.end(),
                std::back_inserter(placing.refused.lostNodes));
    }
  }
  return placing;
}

ClosedPlaces closedPlaces(const Job& job, const std::vector<Member>& members, const Ledger& ledger,
                          const model::SharedList<Job>& jobs) {
  ClosedPlaces closed;
  std::vector<Member> open = openOf(members);
  // What counts is whether any pod of the role could run: a larger node may not help one that was created
  // larger.
  for (Member& each : open) each.pod = nullptr;
  // What its owner has dropped is given up, not moved.
  std::erase_if(open, [&](const Member& each) { return job.spec.findRole(each.role) == nullptr; });
  for (const auto& [node, places] : byNode(open)) {
    const BarrierResult barrier = checkBarrier(job, places, ledger, jobs);
    if (barrier.verdict != BarrierVerdict::kAbort) continue;
    if (closed.reason.empty()) closed.reason = barrier.reason;
    closed.members.insert(closed.members.end(), places.begin(), places.end());
  }
  return closed;
}

GangStep stepOwnedReserved(const Job& job, const JobPods& pods, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  // The places of members that are replaced need not be filled: the gang is placed without them.
  if (proposal.kind == ProposalKind::kReplace || job.owner->end != model::OwnerEnd::kNone)
    return commit(mergeProposal(job));
  // An owner that is gone is not known any more, and its Gang goes with it.
  if (const std::string stop = reasonToStopBeforeRelease(job, *context.feedback); !stop.empty())
    return abortAttempt(job, {stop, {}}, context);
  if (!isKnown(*job.owner)) {
    if (context.now < proposal.deadline) return awaitOwner(proposal);
    return abortAttempt(job, {fmt::format("{} {} was not found", job.owner->kind, job.owner->name), {}},
                        context);
  }
  const std::vector<Member> members = addedMembers(job, proposal, pods);
  std::optional<base::WallTime> wakeAt;
  if (const auto lost = findLostNode(withPods(members), context, wakeAt))
    return abortAttempt(job, *lost, context);
  const std::vector<Member> open = openOf(members);
  if (open.empty() && !anyReleased(members)) return commit(mergeProposal(job));
  if (context.now >= proposal.deadline) return endStart(job, members, context);
  GangStep step;
  if (!job.hasReleaseFinalizer) {
    // A Gang that users have written has no finalizer. Its deletion would leave the pods on their nodes.
    step.actions.emplace_back(AddFinalizer{});
  } else if (job.owner->suspends && job.owner->suspended) {
    if (context.feedback->ownerStarted)
      return abortAttempt(job, {suspendedByOthers(*job.owner), {}}, context);
    step.actions.emplace_back(SuspendOwner{false});
  } else {
    Placing placing = placeArrivals(job, members, context);
    // All users of a namespace may add bare pods: one that is too large for its place waits, the others go
    // on.
    if (placing.refused.verdict == BarrierVerdict::kAbort && !job.owner->uid.empty())
      return abortAttempt(job, {placing.refused.reason, placing.refused.lostNodes}, context);
    step.actions = std::move(placing.actions);
  }
  step.wakeAt = wakeAt ? std::min(*wakeAt, proposal.deadline) : proposal.deadline;
  return step;
}

std::string suspendedByOthers(const model::Owner& owner) {
  return fmt::format("{} {} was suspended by another client", owner.kind, owner.name);
}

std::vector<Action> stopOwned(const Job& job, std::vector<Action> removals) {
  if (job.owner == nullptr || !job.owner->suspends) return removals;
  std::erase_if(removals, [](const Action& each) {
    const auto* deletion = std::get_if<DeletePod>(&each);
    return deletion != nullptr && !deletion->force;
  });
  if (job.owner->known && !job.owner->suspended) removals.emplace_back(SuspendOwner{true});
  return removals;
}

}  // namespace trainyard::core
