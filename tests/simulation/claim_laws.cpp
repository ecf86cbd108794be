#include "simulation/claim_laws.h"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

#include "core/gang/outcome.h"
#include "core/ledger/members.h"
#include "model/job.h"
#include "model/member_of.h"
#include "model/names.h"
#include "sim/api/paths.h"

namespace trainyard::simulation {
namespace {

// Longer than the lag of any view, and than any request in flight that was not deliberately delayed.
constexpr base::Instant::duration kLag = std::chrono::seconds(2);
// After a delayed request: its longest duration, and the time of a plan based on its answer.
constexpr base::Instant::duration kLongestLag = std::chrono::seconds(36);

std::int64_t gpusOf(const model::Job& job, const std::vector<model::Assignment>& assignments) {
  std::int64_t gpus = 0;
  for (const model::Assignment& each : assignments) {
    const model::Role* role = job.spec.findRole(each.role);
    if (role != nullptr) gpus += role->shape.requests.gpus() * static_cast<std::int64_t>(each.indices.size());
  }
  return gpus;
}

std::int64_t memberCount(const std::vector<model::Assignment>& assignments) {
  std::int64_t count = 0;
  for (const model::Assignment& each : assignments) count += static_cast<std::int64_t>(each.indices.size());
  return count;
}

}  // namespace

ClaimLaws::ClaimLaws(sim::ClusterObserver& truth, base::Executor& executor, Violated violated)
    : truth_(truth), executor_(executor), violated_(std::move(violated)) {
  truth_.cache().jobs.onChange(
      [this](const JobPtr& before, const JobPtr& after) { jobChanged(before, after); });
  truth_.cache().pods.onChange([this](const auto& before, const auto& after) {
    if (after && after->member) noteClaimPods(*after);
    if (after && before && after->finished() && !before->finished()) endedAt_[after->uid] = executor_.now();
  });
}

void ClaimLaws::noteClaimPods(const model::Pod& pod) {
  const auto job = truth_.cache().jobs.find({pod.key.ns, pod.member->jobName});
  if (!job || job->uid != model::gangUidOf(pod) || !job->status.gang.proposal) return;
  const model::Proposal& claim = *job->status.gang.proposal;
  if (claim.victims.empty() || claim.epoch != pod.member->epoch) return;
  for (const model::Assignment& each : claim.add) {
    for (const int index : each.indices.values()) {
      const auto mate =
          truth_.cache().pods.find({job->key.ns, model::podName(job->key.name, each.role, index)});
      if (mate == nullptr || !mate->member || mate->member->epoch != claim.epoch) return;
    }
  }
  complete_.insert({job->uid, claim.epoch});
}

bool ClaimLaws::claimStood(const model::Uid& victim) const {
  const auto claims = claimed_.find(victim);
  return claims == claimed_.end() || anyComplete(claims->second);
}

bool ClaimLaws::anyComplete(const std::set<ClaimId>& claims) const {
  return std::any_of(claims.begin(), claims.end(),
                     [&](const ClaimId& each) { return complete_.contains(each); });
}

bool ClaimLaws::restless(const model::Uid& job) const {
  if (executor_.now() < lateUntil_) return true;
  const auto changed = jobChangedAt_.find(job);
  return changed != jobChangedAt_.end() && executor_.now() - changed->second < kLag;
}

void ClaimLaws::jobChanged(const JobPtr& before, const JobPtr& after) {
  if (!after) return;
  if (!before || before->uid != after->uid) return;
  if (before->spec.elastic && after->spec.elastic &&
      before->spec.elastic->replicas != after->spec.elastic->replicas)
    wishedAt_[after->uid] = executor_.now();
  const auto& was = before->status.gang.proposal;
  const auto& is = after->status.gang.proposal;
  const bool isNew = is && (!was || was->epoch != is->epoch);
  if (isNew && !is->victims.empty()) checkClaim(*after, *is);
  const bool reserved = is && is->phase == model::ProposalPhase::kReserved && !is->add.empty();
  if (reserved && (isNew || was->phase != is->phase)) checkLimits(*after);
  const bool waitsAgain = isNew && is->kind == model::ProposalKind::kRestart && is->add.empty();
  if (waitsAgain && after->status.preemptions.count > before->status.preemptions.count) {
    const auto& pods = truth_.cache().pods.all();
    const bool any = std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
      return model::gangUidOf(*pod) == after->uid && !pod->finished();
    });
    // By the gang, not by its pods: the named pods may be gone before the record has the reason.
    const auto claims = claimedGangs_.find(after->uid);
    if (claims == claimedGangs_.end()) {
      if (any) violated_(fmt::format("job {} was preempted, but no claim names its nodes", after->key));
    } else if (!anyComplete(claims->second) && executor_.now() >= lateUntil_) {
      violated_(fmt::format("job {} was stopped for a claim whose pods did not all exist", after->key));
    }
    claimedGangs_.erase(after->uid);
  }
  const bool wants = before->generation != after->generation || before->deleting != after->deleting;
  if (wants || !(before->status.gang == after->status.gang)) jobChangedAt_[after->uid] = executor_.now();
}

void ClaimLaws::checkClaim(const model::Job& job, const model::Proposal& claim) {
  const std::int64_t has = memberCount(claim.add);
  // An elastic gang may start with fewer members, down to its minimum.
  const int minimum =
      job.spec.elastic ? job.spec.totalReplicas() - job.spec.elastic->replicas + job.spec.elastic->minReplicas
                       : job.spec.totalReplicas();
  if ((has < minimum || has > job.spec.totalReplicas()) && !restless(job.uid)) {
    violated_(fmt::format("job {}: claim {} has places for {} of {} members", job.key, claim.id,
                          memberCount(claim.add), job.spec.totalReplicas()));
  }
  std::set<model::Uid> named;
  for (const model::Victim& victim : claim.victims) named.insert(victim.uid);
  for (const model::Uid& each : named) claimed_[each].insert({job.uid, claim.epoch});
  // The pods of a Gang need not exist before: its owner creates them once it is started.
  if (job.owner != nullptr) complete_.insert({job.uid, claim.epoch});
  std::set<model::Uid> gangs;
  std::set<model::Uid> running;
  for (const auto& pod : truth_.cache().pods.all()) {
    if (!named.contains(pod->uid)) continue;
    gangs.insert(model::gangUidOf(*pod));
    if (!pod->terminating) running.insert(model::gangUidOf(*pod));
  }
  for (const auto& other : truth_.cache().jobs.all()) {
    if (!gangs.contains(other->uid)) continue;
    claimedGangs_[other->uid].insert({job.uid, claim.epoch});
    // A claim may also wait for members that terminate already; it preempts none of them.
    if (running.contains(other->uid)) checkVictim(*other, job, named);
  }
}

void ClaimLaws::checkVictim(const model::Job& victim, const model::Job& preemptor,
                            const std::set<model::Uid>& named) {
  const auto say = [&](const char* what) {
    violated_(fmt::format("job {} claims the places of {}, which {}", preemptor.key, victim.key, what));
  };
  if (victim.uid == preemptor.uid) return say("is itself");
  if (!victim.spec.preemptible) say("may not be stopped");
  const auto valueOf = [&](const model::Job& job) {
    for (const auto& each : truth_.cache().priorityClasses.all()) {
      if (each->name == job.spec.priorityClassName) return each->value;
    }
    return 0;
  };
  // Members beyond the desired replicas may be reclaimed for any pending job. After a change of the desired
  // replicas, the previous value may still apply.
  const auto desired = wishedAt_.find(victim.uid);
  const bool unsure = desired != wishedAt_.end() && executor_.now() - desired->second < kLag;
  const bool beyondWish =
      unsure || (victim.spec.elastic && victim.status.replicas > victim.spec.elastic->replicas);
  if (!beyondWish && victim.spec.queue == preemptor.spec.queue && valueOf(victim) > valueOf(preemptor))
    say("is of higher priority in the same queue");
  if (restless(victim.uid)) return;
  // An elastic gang may lose only its last members. A pod that has just ended existed at the decision.
  const auto isThere = [&](const model::Pod& pod) {
    const auto ended = endedAt_.find(pod.uid);
    return !pod.finished() || (ended != endedAt_.end() && executor_.now() - ended->second < kLag);
  };
  int lastKept = -1;
  int firstNamed = INT_MAX;
  for (const auto& pod : truth_.cache().pods.all()) {
    const bool elastic = model::gangUidOf(*pod) == victim.uid && pod->member && victim.spec.elastic &&
                         pod->member->role == victim.spec.elastic->role;
    if (!elastic || !isThere(*pod) || pod->terminating) continue;
    if (named.contains(pod->uid))
      firstNamed = std::min(firstNamed, pod->member->index);
    else
      lastKept = std::max(lastKept, pod->member->index);
  }
  if (lastKept >= 0 && firstNamed < INT_MAX) {
    if (lastKept > firstNamed) say("would lose others than its last members");
    return;
  }
  for (const auto& pod : truth_.cache().pods.all()) {
    const bool runs = model::gangUidOf(*pod) == victim.uid && pod->member && pod->bound() &&
                      !pod->finished() && !pod->terminating;
    if (runs && !named.contains(pod->uid)) return say("would lose some of its members only");
  }
}

// --- limits
// --------------------------------------------------------------------------------------------------

// The GPUs of placed gangs in the queue and below it, including gangs that still have to leave.
std::int64_t ClaimLaws::heldBelow(const model::QueueName& queue) const {
  const auto below = [&](model::QueueName at) {
    for (int depth = 0; depth < 10; ++depth) {
      if (at == queue) return true;
      const auto found = truth_.cache().queues.find(at);
      if (!found || found->parent.empty()) return false;
      at = found->parent;
    }
    return false;
  };
  // If the pods of a gang were deleted for a claim, it holds nothing, even if its record is behind. While its
  // pods exist it does, whichever claim names them.
  const auto gone = [&](const model::Uid& job) {
    const auto& pods = truth_.cache().pods.all();
    return std::none_of(pods.begin(), pods.end(),
                        [&](const auto& pod) { return model::gangUidOf(*pod) == job && !pod->finished(); });
  };
  // Members of a shrinking gang that left for a claim hold nothing either.
  const auto left = [&](const model::Job& job) {
    std::int64_t gpus = 0;
    for (const model::Assignment& each : job.status.gang.proposal->remove) {
      const model::Role* role = job.spec.findRole(each.role);
      for (const int index : each.indices.values()) {
        const auto pod =
            truth_.cache().pods.find({job.key.ns, model::podName(job.key.name, each.role, index)});
        const bool holds = pod && model::gangUidOf(*pod) == job.uid && !pod->finished();
        if (role != nullptr && !holds) gpus += role->shape.requests.gpus();
      }
    }
    return gpus;
  };
  // Returns true if the gang has ended, even if its record is behind: only its remaining pods count.
  const auto hasEnded = [&](const model::Job& job, const core::JobPods& pods) {
    const auto outcome = core::judge(job, core::placedMembers(job, *job.status.gang.placed, pods)).outcome;
    return outcome == core::Outcome::kSucceeded || outcome == core::Outcome::kFailed;
  };
  const auto stillHeld = [&](const core::JobPods& pods) {
    std::int64_t gpus = 0;
    for (const auto& pod : pods) {
      if (pod->bound() && !pod->finished()) gpus += pod->shape.requests.gpus();
    }
    return gpus;
  };
  const auto podsOf = [&](const model::Job& job) {
    core::JobPods pods;
    for (const auto& pod : truth_.cache().pods.all()) {
      if (model::gangUidOf(*pod) == job.uid) pods.push_back(pod);
    }
    return pods;
  };
  // Members that succeed before their start or restart is recorded as placed hold nothing.
  const auto succeededOf = [](const model::Proposal& start, const core::JobPods& pods) {
    std::int64_t gpus = 0;
    for (const auto& pod : pods) {
      const bool added = pod->member && pod->member->epoch == start.epoch;
      if (added && pod->phase == model::PodPhase::kSucceeded) gpus += pod->shape.requests.gpus();
    }
    return gpus;
  };
  std::int64_t gpus = 0;
  for (const auto& job : truth_.cache().jobs.all()) {
    if (job->finished() || job->deleting || !below(job->spec.queue)) continue;
    const auto& gang = job->status.gang;
    const bool restarts = gang.proposal && gang.proposal->kind == model::ProposalKind::kRestart;
    if (gang.proposal && gang.proposal->phase == model::ProposalPhase::kReserved &&
        (restarts || !gang.placed)) {
      gpus += gpusOf(*job, gang.proposal->add) - succeededOf(*gang.proposal, podsOf(*job));
    } else if (gang.placed && !gang.proposal && hasEnded(*job, podsOf(*job))) {
      gpus += stillHeld(podsOf(*job));
    } else if (gang.placed && !restarts && !gone(job->uid)) {
      std::int64_t held = gpusOf(*job, gang.placed->assignments);
      if (gang.proposal && gang.proposal->kind == model::ProposalKind::kShrink) {
        const std::int64_t stays = held - gpusOf(*job, gang.proposal->remove);
        held -= left(*job);
        // Some members may have completed: the gang holds at most what the leaving and running pods hold.
        if (!gang.proposal->movesFor) held = std::max(stays, std::min(held, stillHeld(podsOf(*job))));
      }
      gpus += held;
    }
  }
  return gpus;
}

void ClaimLaws::checkLimits(const model::Job& job) {
  if (executor_.now() < lateUntil_) return;
  auto at = job.spec.queue;
  for (int depth = 0; depth < 10 && !at.empty(); ++depth) {
    const auto queue = truth_.cache().queues.find(at);
    if (!queue) return;
    const auto limit = queue->limit.find(model::names::kGpuResource);
    const std::int64_t held = heldBelow(at);
    if (limit && held > *limit) {
      violated_(fmt::format("with {} queue {} holds {} GPUs of its limit of {}", job.key, at, held, *limit));
    }
    at = queue->parent;
  }
}

// --- victims
// -----------------------------------------------------------------------------------------------------

void ClaimLaws::sends(Step step, const net::HttpRequest& request) {
  if (step != Step::kDeletePod && step != Step::kForceDelete && step != Step::kEvict) return;
  const auto path = sim::parseTarget(request.target);
  const auto pod = path ? truth_.cache().pods.find({path->space, path->name}) : nullptr;
  if (!pod || !pod->member || pod->terminating || pod->finished()) return;
  if (request.body.find(pod->uid.str()) == std::string::npos) return;
  const bool named = claimed_.contains(pod->uid);
  if (named && claimStood(pod->uid)) return;
  const auto job = truth_.cache().jobs.find({pod->key.ns, pod->member->jobName});
  if (!job || job->uid != model::gangUidOf(*pod) || job->deleting || job->finished()) return;
  const auto& gang = job->status.gang;
  if (job->spec.run.suspend || gang.proposal || !gang.placed || restless(job->uid)) return;
  const bool member = std::any_of(
      gang.placed->assignments.begin(), gang.placed->assignments.end(), [&](const model::Assignment& each) {
        return each.role == pod->member->role && each.indices.contains(pod->member->index) &&
               gang.placed->epochOf(each) == pod->member->epoch;
      });
  if (!member) return;
  violated_(fmt::format("pod {} {}", pod->key,
                        named ? "is deleted for a claim whose pods did not all exist"
                              : "of a gang that runs in peace is deleted"));
}

void ClaimLaws::comesLate(Step step) {
  const bool record = step == Step::kReserve || step == Step::kClaim || step == Step::kClaimed;
  const bool view = step == Step::kListJobs || step == Step::kListPods || step == Step::kListOthers ||
                    isWatch(step) || step == Step::kReadJob;
  if (record || view) lateFor(kLongestLag);
}

void ClaimLaws::lateFor(base::Instant::duration span) {
  lateUntil_ = std::max(lateUntil_, executor_.now() + span + kLag);
}

}  // namespace trainyard::simulation
