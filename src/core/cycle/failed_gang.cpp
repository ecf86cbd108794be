#include "core/cycle/failed_gang.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "core/lifecycle/follow_up.h"
#include "core/lifecycle/node_endings.h"
#include "core/lifecycle/user_rules.h"
#include "core/order/job_times.h"
#include "core/order/preemption_cost.h"
#include "model/limits.h"
#include "model/preflight.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::PodFailureRule;

const Member& rootOf(const Failure& failure, const Verdict& verdict) {
  const auto at = std::find_if(verdict.failed.begin(), verdict.failed.end(),
                               [&](const Member& member) { return member.pod->key.name == failure.pod; });
  return at == verdict.failed.end() ? verdict.failed.front() : *at;
}

const PodFailureRule* ruleFor(const Job& job, const Member& root, const Verdict& verdict) {
  if (const PodFailureRule* rule = matchRule(job.spec.failure, root.role, *root.pod)) return rule;
  for (const Member& member : verdict.failed) {
    if (const PodFailureRule* rule = matchRule(job.spec.failure, member.role, *member.pod)) return rule;
  }
  return nullptr;
}

model::LastFailure lastFailure(const Failure& failure, const Member& root, std::string message,
                               base::WallTime now) {
  model::LastFailure last;
  last.failure = failure.failure;
  last.message = base::cutText(message, model::limits::kMaxEventNote);
  last.node = root.node;
  last.pod = root.pod->key.name;
  if (root.pod->exit) last.exitCode = root.pod->exit->code;
  last.time = now;
  return last;
}

std::string describe(const Failure& failure, const Member& root) {
  std::string text = describeFailure(*root.pod);
  if (!failure.message.empty() && text.find(failure.message) == std::string::npos)
    text += ": " + failure.message;
  return text;
}

// A start that ran for so long and kept its work made progress, so a failure after it is no repetition.
constexpr std::chrono::hours kProvenRun{1};

// Returns the restarts that count against the job. A month of training meets more network failures than any
// budget allows, and must not end for that. A job that fails in vain keeps no work, or fails sooner.
model::Restarts heldAgainst(const Job& job, model::FailureClass failure, base::WallTime now) {
  model::Restarts restarts = job.status.restarts;
  const base::WallTime since = placedSince(job, now);
  const auto& progress = job.status.progress;
  // A job that reports checkpoints but wrote none in this start lost its work, whatever it declares.
  const bool keptNothing = progress && progress->lastCheckpoint && *progress->lastCheckpoint < since;
  const bool further = isCheckpointable(job.spec) && !keptNothing && now - since >= kProvenRun;
  if (further && partyOf(failure) == model::Party::kInfrastructure)
    std::erase_if(restarts.byClass, [&](const auto& each) { return each.first == failure; });
  return restarts;
}

// A pod that is gone, or was deleted without a reason, counts as interrupted.
model::FailureClass classOfLoss(const model::Pod* pod) {
  const auto ended = pod == nullptr ? std::nullopt : endedByNode(*pod);
  return ended.value_or(model::FailureClass::kInterrupted);
}

// The pause does not count as an attempt, because nothing was tried.
model::Backoff pauseOf(const FollowUp& next, const Member& root, const Author& author) {
  model::Backoff backoff;
  backoff.until = author.now + next.pause;
  if (next.elsewhere) backoff.avoidNodes.push_back(root.node);
  backoff.reason = next.why;
  return backoff;
}

// Makes the gang pending again: a pause is due, or its present spec has not been admitted.
model::GangRecord giveBack(const Job& job, const FollowUp& next, const Member& root, const Author& author) {
  model::GangRecord record =
      propose(job, model::ProposalKind::kRestart, {}, job.status.gang.placed->assignments, {}, author);
  record.backoff = pauseOf(next, root, author);
  return record;
}

// All members but the failed ones run on.
model::GangRecord pauseInPlace(const Job& job, const FollowUp& next, const Member& root,
                               const Author& author) {
  model::GangRecord record = job.status.gang;
  record.backoff = pauseOf(next, root, author);
  return record;
}

Replacement planRestart(const Job& job, const std::vector<Member>& members, const Verdict& verdict,
                        const FollowUp& next, const Member& root, const PlacementScope& placementScope,
                        const Author& author) {
  if (!next.elsewhere) return replaceLost(job, members, verdict.failed, placementScope, author);
  Job avoiding = job;
  avoiding.status.gang.backoff = model::Backoff{author.now, 0, {root.node}, next.why};
  return replaceLost(avoiding, members, verdict.failed, placementScope, author);
}

// A run of this length ends a series of losses.
constexpr std::chrono::minutes kLastingRun{10};

int lossesInARow(const Job& job, base::WallTime now) {
  const auto& last = job.status.lastFailure;
  const bool soon = last && now - last->time < kLastingRun;
  return soon ? job.status.restarts.lossesInARow + 1 : 1;
}

base::WallTime::duration pauseAfterLoss(int inARow, const Settings& settings) {
  return inARow <= 1 ? base::WallTime::duration::zero() : backoffDelay(inARow - 1, settings);
}

const PodFailureRule* ruleForLost(const Job& job, const std::vector<Member>& lost) {
  for (const Member& member : lost) {
    if (member.pod == nullptr) continue;
    if (const PodFailureRule* rule = matchRule(job.spec.failure, member.role, *member.pod, PodEnd::kLost))
      return rule;
  }
  return nullptr;
}

std::string podNameOf(const Job& job, const Member& member) {
  return model::podName(job.key.name, member.role, member.index);
}

Failure failureOf(const Job& job, const Verdict& verdict) {
  const Member& first = verdict.lost.front();
  Failure failure;
  failure.failure = classOfLoss(first.pod);
  failure.message = base::cutText(verdict.message, model::limits::kMaxEventNote);
  failure.node = first.node;
  failure.pod = podNameOf(job, first);
  return failure;
}

// Returns true if an earlier cycle recorded the loss, and its replacement was given up or waits for a pause.
bool isKnownLoss(const Job& job, const std::vector<Member>& lost) {
  const auto& last = job.status.lastFailure;
  if (!job.status.gang.backoff || !last) return false;
  return std::any_of(lost.begin(), lost.end(), [&](const Member& member) {
    return member.node == last->node && podNameOf(job, member) == last->pod;
  });
}

model::LastFailure lastFailure(const Failure& loss, bool restarts, base::WallTime now) {
  model::LastFailure last;
  last.failure = loss.failure;
  last.action = restarts ? "Restarted" : "Failed";
  last.message = loss.message;
  last.node = loss.node;
  last.pod = loss.pod;
  last.time = now;
  return last;
}

// Nodes that ended or refused a member come last.
std::vector<model::NodeName> nodesThatEnded(const std::vector<Member>& lost) {
  std::vector<model::NodeName> nodes;
  for (const Member& member : lost) {
    if (member.pod != nullptr && member.pod->phase == model::PodPhase::kFailed) nodes.push_back(member.node);
  }
  return nodes;
}

// Members that failed before, and wait for the end of a pause, are replaced with the lost ones: their failure
// is counted already.
std::vector<Member> withFailed(const Job& job, const std::vector<Member>& members, std::vector<Member> lost) {
  if (!pausesInPlace(job)) return lost;
  for (const Member& member : members) {
    const bool isThere = std::any_of(lost.begin(), lost.end(), [&](const Member& each) {
      return each.role == member.role && each.index == member.index;
    });
    if (!isThere && member.failed) lost.push_back(member);
  }
  return lost;
}

Replacement replaceElsewhere(const Job& job, const std::vector<Member>& members,
                             const std::vector<Member>& lost, const PlacementScope& placementScope,
                             const Author& author) {
  Job avoiding = job;
  if (auto nodes = nodesThatEnded(lost); !nodes.empty())
    avoiding.status.gang.backoff =
        model::Backoff{author.now, 0, std::move(nodes), "nodes ended or refused its members"};
  return replaceLost(avoiding, members, withFailed(job, members, lost), placementScope, author);
}

// The gang gives its nodes back and is pending; with scope Pod the surviving members run on.
model::GangRecord pauseLoss(const Job& job, const std::vector<Member>& lost, int inARow,
                            base::WallTime::duration pause, const Author& author) {
  const bool inPlace = job.spec.failure.scope == model::RestartScope::kPod;
  model::GangRecord record = inPlace ? job.status.gang
                                     : propose(job, model::ProposalKind::kRestart, {},
                                               job.status.gang.placed->assignments, {}, author);
  record.backoff = model::Backoff{author.now + pause, 0, nodesThatEnded(lost),
                                  fmt::format("members were lost {} times in a row", inARow)};
  return record;
}

}  // namespace

FailedGang followFailure(const Job& job, const std::vector<Member>& members, const Verdict& verdict,
                         const Failure& failure, bool mayRestart, const PlacementScope& placementScope,
                         const Author& author) {
  const Member& root = rootOf(failure, verdict);
  // Users' rules apply to their own containers, not to the check of a node.
  const bool ownDoing = failure.failure != model::FailureClass::kPreflightFailed;
  const FollowUp next = followUp(job.spec.failure, heldAgainst(job, failure.failure, author.now), failure,
                                 ownDoing ? ruleFor(job, root, verdict) : nullptr);
  const std::string what = describe(failure, root);
  FailedGang gang;
  gang.update.failure = lastFailure(failure, root, what, author.now);
  const std::string message = fmt::format("{}; {}", what, next.why);
  gang.event = {true, verdict.reason, message};
  if (!next.restart) {
    gang.record = job.status.gang;
    gang.update.failure->action = "Failed";
    gang.update.verdict = verdict;
    gang.update.verdict.message = message;
    return gang;
  }
  gang.update.failure->action = "Restarted";
  gang.update.membersFailed = true;
  gang.update.restarts = next.counts ? RestartKind::kCounted : RestartKind::kNotCounted;
  const bool othersRunOn =
      job.spec.failure.scope == model::RestartScope::kPod && mayRestart && !next.moreMemory;
  if (next.pause.count() > 0 && othersRunOn) {
    gang.record = pauseInPlace(job, next, root, author);
    return gang;
  }
  // With more memory than it was admitted for, the gang has to be admitted again: its queue may not have that
  // much quota left.
  if (next.pause.count() > 0 || !mayRestart || next.moreMemory) {
    gang.record = giveBack(job, next, root, author);
    return gang;
  }
  Replacement replacement = planRestart(job, members, verdict, next, root, placementScope, author);
  gang.record = std::move(replacement.record);
  gang.assignments = std::move(replacement.assignments);
  return gang;
}

FailedGang followLoss(const Job& job, const std::vector<Member>& members, const Verdict& verdict,
                      bool mayRestart, const PlacementScope& placementScope, const Author& author) {
  FailedGang gang;
  gang.event = {true, "MemberLost", verdict.message};
  base::WallTime::duration pause{};
  if (!isKnownLoss(job, verdict.lost)) {
    const Failure loss = failureOf(job, verdict);
    const PodFailureRule* rule = ruleForLost(job, verdict.lost);
    FollowUp next;
    next.restart = true;
    if (rule != nullptr) next = followUp(job.spec.failure, job.status.restarts, loss, rule);
    gang.update.failure = lastFailure(loss, next.restart, author.now);
    if (!next.restart) {
      gang.record = job.status.gang;
      gang.event.note = fmt::format("{}; {}", verdict.message, next.why);
      gang.update.verdict = {Outcome::kFailed, "MemberLost", gang.event.note};
      return gang;
    }
    gang.update.restarts = next.counts ? RestartKind::kCounted : RestartKind::kNotCounted;
    gang.update.lossesInARow = lossesInARow(job, author.now);
    pause = pauseAfterLoss(*gang.update.lossesInARow, *author.settings);
  }
  if (!mayRestart) {
    gang.record =
        propose(job, model::ProposalKind::kRestart, {}, job.status.gang.placed->assignments, {}, author);
    return gang;
  }
  if (pause.count() > 0) {
    gang.record = pauseLoss(job, verdict.lost, *gang.update.lossesInARow, pause, author);
    return gang;
  }
  Replacement replacement = replaceElsewhere(job, members, verdict.lost, placementScope, author);
  gang.record = std::move(replacement.record);
  gang.assignments = std::move(replacement.assignments);
  return gang;
}

bool pausesInPlace(const Job& job) {
  // The back-off of a pause has count 0; after an attempt that was given up, the count is positive.
  const auto& backoff = job.status.gang.backoff;
  return job.spec.failure.scope == model::RestartScope::kPod && backoff && backoff->count == 0;
}

FailedGang replaceAfterPause(const Job& job, const std::vector<Member>& members, const Verdict& verdict,
                             bool mayRestart, const PlacementScope& placementScope, const Author& author) {
  FailedGang gang;
  gang.update.membersFailed = true;
  gang.event = {false, "Restarting", "the pause is over; the failed members restart"};
  if (!mayRestart) {
    gang.record =
        propose(job, model::ProposalKind::kRestart, {}, job.status.gang.placed->assignments, {}, author);
    return gang;
  }
  Replacement replacement = replaceLost(job, members, verdict.failed, placementScope, author);
  gang.record = std::move(replacement.record);
  gang.assignments = std::move(replacement.assignments);
  return gang;
}

std::string silenceText(const Job& job, base::WallTime silentSince) {
  return fmt::format(
      "no progress report and no new log line since {}, for longer than spec.health.stallSeconds ({})",
      base::formatTime(silentSince), job.spec.health.stall.count());
}

FailedGang followStall(const Job& job, const std::vector<Member>& members, base::WallTime silentSince,
                       bool mayRestart, const PlacementScope& placementScope, const Author& author) {
  Failure failure;
  failure.failure = model::FailureClass::kStalled;
  failure.message = silenceText(job, silentSince);
  const FollowUp next = followUp(job.spec.failure, job.status.restarts, failure, nullptr);
  FailedGang gang;
  model::LastFailure& last = gang.update.failure.emplace();
  last.failure = failure.failure;
  last.message = failure.message;
  last.action = next.restart ? "Restarted" : "Failed";
  last.time = author.now;
  const std::string message = fmt::format("{}; {}", failure.message, next.why);
  gang.event = {true, "Stalled", message};
  if (!next.restart) {
    gang.record = job.status.gang;
    gang.update.verdict = {Outcome::kFailed, "Stalled", message};
    return gang;
  }
  gang.update.restarts = next.counts ? RestartKind::kCounted : RestartKind::kNotCounted;
  if (next.pause.count() > 0 || !mayRestart) {
    gang.record = giveBack(job, next, members.front(), author);
    return gang;
  }
  Job whole = job;
  whole.spec.failure.scope = model::RestartScope::kGang;
  Replacement replacement = replaceLost(whole, members, members, placementScope, author);
  gang.record = std::move(replacement.record);
  gang.assignments = std::move(replacement.assignments);
  return gang;
}

std::optional<Failure> failedPreflight(const Verdict& verdict) {
  for (const Member& member : verdict.failed) {
    if (!member.pod->failure) continue;
    const auto& containers = member.pod->failure->containers;
    const bool checked = std::any_of(containers.begin(), containers.end(), [](const auto& each) {
      return each.name == model::kPreflightContainer;
    });
    if (!checked) continue;
    Failure failure;
    failure.failure = model::FailureClass::kPreflightFailed;
    failure.message = fmt::format("node {} did not pass its check", member.node);
    failure.pod = member.pod->key.name;
    failure.node = member.node;
    return failure;
  }
  return std::nullopt;
}

std::optional<base::WallTime> deadlineOf(const Job& job, base::WallTime now) {
  if (!job.spec.run.activeDeadline) return std::nullopt;
  return now + (*job.spec.run.activeDeadline - ranSoFar(job, now));
}

FailedGang endAtDeadline(const Job& job, base::WallTime now) {
  const std::string message = fmt::format("it has run for {} s, the limit of spec.run.activeDeadlineSeconds",
                                          job.spec.run.activeDeadline->count());
  FailedGang gang;
  gang.record = job.status.gang;
  gang.update.verdict = {Outcome::kFailed, "DeadlineExceeded", message};
  model::LastFailure& last = gang.update.failure.emplace();
  last.failure = model::FailureClass::kDeadlineExceeded;
  last.action = "Failed";
  last.message = message;
  last.time = now;
  gang.event = {true, "DeadlineExceeded", message};
  return gang;
}

}  // namespace trainyard::core
