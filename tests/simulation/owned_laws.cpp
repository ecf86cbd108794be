#include "simulation/owned_laws.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/member_of.h"
#include "model/names.h"
#include "sim/api/paths.h"

namespace trainyard::simulation {
namespace {

// The Lease of a dead leader expires, the next one lists the pods, and evicts one of the two.
constexpr base::Instant::duration kLeaderChange = std::chrono::seconds(30);
// Longer than the lag of any view, and than any request in flight that was not deliberately delayed.
constexpr base::Instant::duration kViewLag = std::chrono::seconds(2);

// A leader that gets no update for longer than this has lost its Lease.
constexpr base::Instant::duration kLongestMistake = std::chrono::milliseconds(10'500);
// Of a delayed request: its longest duration, and the time of a plan based on its answer.
constexpr base::Instant::duration kLongestDelay = std::chrono::seconds(36);

// What happens to a pod is in an operator's view by then.
constexpr base::Instant::duration kSeenWithin = std::chrono::seconds(1);

bool isOfGang(const model::Pod& pod) { return !pod.gangUid.empty() && pod.member.has_value(); }

bool isRunning(const model::Pod& pod) { return !pod.finished() && !pod.terminating; }

const model::NodeName* nodeOf(const std::vector<model::Assignment>& assignments,
                              const model::MemberLabels& labels) {
  for (const model::Assignment& each : assignments) {
    if (each.role == labels.role && each.indices.contains(labels.index)) return &each.node;
  }
  return nullptr;
}

// The node of this member in the record; null if the record does not name it.
const model::NodeName* recordedNode(const model::GangRecord& gang, const model::MemberLabels& labels) {
  if (gang.proposal && gang.proposal->epoch == labels.epoch) {
    if (const auto* node = nodeOf(gang.proposal->add, labels)) return node;
  }
  if (!gang.placed) return nullptr;
  for (const model::Assignment& each : gang.placed->assignments) {
    const bool names = each.role == labels.role && each.indices.contains(labels.index);
    if (names && gang.placed->epochOf(each) == labels.epoch) return &each.node;
  }
  return nullptr;
}

// A pod that its node ended, or that was lost with it.
bool isLost(const model::Pod& pod) {
  return pod.statusReason.starts_with("OutOf") || pod.disruptionReason.starts_with("Deletion");
}

}  // namespace

OwnedLaws::OwnedLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated)
    : truth_(truth), executor_(executor), violated_(std::move(violated)) {
  truth_.cache().jobs.onChange([this](const JobPtr& before, const JobPtr& after) {
    const JobPtr& any = after ? after : before;
    if (any->owner != nullptr) gangChanged(before, after);
  });
  truth_.cache().pods.onChange(
      [this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
  truth_.cache().nodes.onChange([this](const auto& before, const auto& after) {
    if (after && after->takesPods()) {
      closedSince_.erase(after->name);
    } else {
      closedSince_.try_emplace((after ? after : before)->name, executor_.now());
    }
  });
  truth_.owners().onChange([this](const auto&, const auto& after) {
    if (after) ownerChanged(*after);
  });
}

OwnedLaws::JobPtr OwnedLaws::gangOf(const model::Pod& pod) const {
  const auto gang = truth_.cache().jobs.find({pod.key.ns, pod.member->jobName});
  return gang && gang->uid == pod.gangUid ? gang : nullptr;
}

// --- the record
// -----------------------------------------------------------------------------------------------------

void OwnedLaws::gangChanged(const JobPtr& before, const JobPtr& after) {
  if (before && after && before->uid == after->uid) {
    if (!(before->status.gang == after->status.gang)) changedAt_[after->uid] = executor_.now();
    return checkRecord(*before, *after);
  }
  if (!before) return;
  for (const PodPtr& pod : truth_.cache().pods.all()) {
    const bool runs = pod->gangUid == before->uid && pod->bound() && !pod->finished();
    if (runs && !late_.contains(pod->uid))
      violated_(fmt::format("Gang {} is gone while its pod {} runs on {}", before->key, pod->key, pod->node));
  }
}

void OwnedLaws::checkRecord(const model::Job& before, const model::Job& after) {
  const auto& was = before.status.gang.proposal;
  const auto& is = after.status.gang.proposal;
  using Phase = model::ProposalPhase;
  if (!was) return;
  if (!is && was->phase == Phase::kAborting) checkDropped(after, *was);
  const bool claimed = was->phase == Phase::kClaiming &&
                       (is ? is->epoch == was->epoch && is->phase == Phase::kReserved : !was->movesFor);
  if (claimed) checkClaimed(before, *was);
}

void OwnedLaws::checkDropped(const model::Job& gang, const model::Proposal& proposal) {
  for (const PodPtr& pod : truth_.cache().pods.all()) {
    const bool left = isOfGang(*pod) && pod->gangUid == gang.uid && pod->member->epoch == proposal.epoch &&
                      !pod->finished() && !late_.contains(pod->uid);
    if (left)
      violated_(fmt::format("Gang {}: proposal {} ended before its pod {}", gang.key, proposal.id, pod->key));
  }
}

void OwnedLaws::checkClaimed(const model::Job& gang, const model::Proposal& proposal) {
  if (!gang.status.gang.placed) return;
  for (const PodPtr& pod : truth_.cache().pods.all()) {
    if (!isOfGang(*pod) || pod->gangUid != gang.uid || pod->member->epoch == proposal.epoch) continue;
    if (pod->finished() || late_.contains(pod->uid)) continue;
    if (nodeOf(proposal.remove, *pod->member) == nullptr) continue;
    violated_(
        fmt::format("Gang {}: proposal {} was reserved before {} was gone", gang.key, proposal.id, pod->key));
  }
}

// --- places
// ---------------------------------------------------------------------------------------------------------

void OwnedLaws::podChanged(const PodPtr& before, const PodPtr& after) {
  noteFailure(before, after);
  if (after && after->finished()) endedAt_.try_emplace(after->uid, executor_.now());
  if (!before || !after || before->uid != after->uid || !before->arrival || after->arrival) return;
  if (!given_.contains(after->uid))
    return violated_(fmt::format("pod {} lost its gate, but no operator gave it a place", after->key));
  if (!isOfGang(*after)) return violated_(fmt::format("pod {} was let go without a place", after->key));
  checkPlace(*after, *before->arrival);
  watchPlace(after);
}

bool OwnedLaws::hasJustEnded(const model::Pod& pod) const {
  const auto at = endedAt_.find(pod.uid);
  return at != endedAt_.end() && executor_.now() - at->second < kSeenWithin;
}

// Whether the record has a place of this index that no other pod holds. A Job of which some pods have
// succeeded has places for the rest only.
bool OwnedLaws::isFreeFor(const model::Job& gang, const model::Pod& pod, int index) const {
  model::MemberLabels own = *pod.member;
  own.index = index;
  if (recordedNode(gang.status.gang, own) == nullptr) return false;
  const auto& pods = truth_.cache().pods.all();
  return std::none_of(pods.begin(), pods.end(), [&](const PodPtr& other) {
    return isOfGang(*other) && other->gangUid == gang.uid && other->member->role == own.role &&
           other->member->index == index && other->uid != pod.uid &&
           (isRunning(*other) || other->phase == model::PodPhase::kSucceeded || hasJustEnded(*other));
  });
}

void OwnedLaws::checkPlace(const model::Pod& pod, const model::Arrival& asked) {
  if (late_.contains(pod.uid)) return;
  const JobPtr gang = gangOf(pod);
  if (!gang) return violated_(fmt::format("pod {} was let go although its Gang is gone", pod.key));
  if (pod.member->role != asked.role || gang->key.name != asked.gang)
    violated_(fmt::format("pod {} of role {} in {} has a place of role {} in {}", pod.key, asked.role,
                          asked.gang, pod.member->role, gang->key));
  if (asked.rank >= 0 && asked.rank != pod.member->index && isFreeFor(*gang, pod, asked.rank))
    violated_(fmt::format("pod {} of index {} has place {}", pod.key, asked.rank, pod.member->index));
  const model::NodeName* node = recordedNode(gang->status.gang, *pod.member);
  if (node == nullptr)
    return violated_(fmt::format("pod {} has place {}-{} of epoch {}, which the record does not name",
                                 pod.key, pod.member->role, pod.member->index, pod.member->epoch));
  if (!pod.pinned || *pod.pinned != *node)
    violated_(fmt::format("pod {} was let go to {}, its place is on {}", pod.key,
                          pod.pinned ? pod.pinned->str() : "any node", *node));
  const auto closed = closedSince_.find(*node);
  if (closed != closedSince_.end() && executor_.now() - closed->second > kLongestMistake &&
      executor_.now() >= nodesLateUntil_)
    violated_(fmt::format("pod {} was let go to {}, which has long been closed", pod.key, *node));
}

void OwnedLaws::watchPlace(const PodPtr& pod) {
  const auto same = [](const model::Pod& a, const model::Pod& b) {
    return a.uid != b.uid && isOfGang(b) && a.gangUid == b.gangUid && a.member->role == b.member->role &&
           a.member->index == b.member->index && isRunning(b);
  };
  for (const PodPtr& other : truth_.cache().pods.all()) {
    if (!same(*pod, *other)) continue;
    executor_.postAfter(kLeaderChange, [this, one = pod->key, two = other->key, same] {
      const PodPtr a = truth_.cache().pods.find(one);
      const PodPtr b = truth_.cache().pods.find(two);
      if (a && b && isOfGang(*a) && isRunning(*a) && same(*a, *b))
        violated_(fmt::format("pods {} and {} have had one place for long", one, two));
    });
  }
}

// --- owners
// ---------------------------------------------------------------------------------------------------------

void OwnedLaws::sends(Step step, const net::HttpRequest& request) {
  const bool removes = step == Step::kDeletePod || step == Step::kEvict || step == Step::kForceDelete;
  if (step != Step::kGivePlace && !removes) return;
  const auto path = sim::parseTarget(request.target);
  const PodPtr pod = path ? truth_.cache().pods.find({path->space, path->name}) : nullptr;
  if (!pod || request.body.find(pod->uid.str()) == std::string::npos) return;
  if (step == Step::kGivePlace) {
    given_.insert(pod->uid);
  } else if (isOfGang(*pod) && isRunning(*pod)) {
    checkRemoval(*pod, request);
  }
}

void OwnedLaws::checkRemoval(const model::Pod& pod, const net::HttpRequest& request) {
  const JobPtr gang = gangOf(pod);
  if (!gang || !gang->owner->suspends) return;
  const auto changed = changedAt_.find(gang->uid);
  const bool restless = changed != changedAt_.end() && executor_.now() - changed->second < kViewLag;
  // A pod beside another one in its place, or without one, has to go, and its owner counts it.
  const auto& pods = truth_.cache().pods.all();
  const bool isAlone = std::none_of(pods.begin(), pods.end(), [&](const PodPtr& other) {
    return other->uid != pod.uid && isOfGang(*other) && other->gangUid == pod.gangUid &&
           other->member->role == pod.member->role && other->member->index == pod.member->index;
  });
  excused_.insert(pod.uid);
  if (restless || !isAlone || recordedNode(gang->status.gang, *pod.member) == nullptr) return;
  violated_(fmt::format("pod {} of {} {}, which can be suspended, is removed: {}", pod.key, gang->owner->kind,
                        gang->owner->name, request.target));
}

void OwnedLaws::comesLate(Step step, const net::HttpRequest& request) {
  if (step == Step::kListNodes || step == Step::kWatchNodes)
    nodesLateUntil_ = executor_.now() + kLongestDelay;
  if (step != Step::kGivePlace) return;
  const auto path = sim::parseTarget(request.target);
  const PodPtr pod = path ? truth_.cache().pods.find({path->space, path->name}) : nullptr;
  if (pod) late_.insert(pod->uid);
}

// Notes the failures with a good reason, of those that a controller of Jobs counts.
void OwnedLaws::noteFailure(const PodPtr& before, const PodPtr& after) {
  const bool gone = before && (!after || after->uid != before->uid);
  const PodPtr& pod = gone ? before : after;
  if (!pod || pod->controllerKind != "Job") return;
  const bool failed = pod->phase == model::PodPhase::kFailed || pod->terminating || gone;
  if (!failed || pod->phase == model::PodPhase::kSucceeded) return;
  const bool byItself = pod->phase == model::PodPhase::kFailed && !pod->terminating && pod->exit.has_value();
  if (byItself || isLost(*pod) || excused_.contains(pod->uid)) failures_[pod->controllerUid].insert(pod->uid);
}

void OwnedLaws::ownerChanged(const model::Workload& owner) {
  if (owner.owner.end != model::OwnerEnd::kFailed) return;
  if (failures_[owner.uid].empty())
    violated_(fmt::format("Job {} has failed, though none of its pods did by itself", owner.key));
}

}  // namespace trainyard::simulation
