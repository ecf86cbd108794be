#include "core/gang/gang_resize.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/gang/gang_removal.h"
#include "core/gang/outcome.h"
#include "core/gang/protocol_steps.h"
#include "core/resize.h"
#include "model/gang_size.h"
#include "model/membership.h"
#include "model/message_text.h"
#include "model/process_group.h"
#include "model/tensorflow_cluster.h"

namespace trainyard::core {
namespace {

using model::Assignment;
using model::GangRecord;
using model::Job;
using model::Proposal;
using model::ProposalKind;
using model::ProposalPhase;

// The default grace period of a pod, for jobs without a checkpoint grace period.
constexpr std::chrono::seconds kDefaultLeave{30};

int countOf(const std::vector<Assignment>& assignments, const std::string& role) {
  std::size_t count = 0;
  for (const Assignment& each : assignments) count += each.role == role ? each.indices.size() : 0;
  return static_cast<int>(count);
}

// Joins both lists; members of one role on one node become one entry.
std::vector<Assignment> joined(std::vector<Assignment> assignments, const std::vector<Assignment>& more) {
  for (const Assignment& each : more) {
    const auto same = std::find_if(assignments.begin(), assignments.end(), [&](const Assignment& place) {
      return place.node == each.node && place.role == each.role;
    });
    if (same == assignments.end()) {
      assignments.push_back(each);
      continue;
    }
    std::vector<int> indices = same->indices.values();
    indices.insert(indices.end(), each.indices.values().begin(), each.indices.values().end());
    std::sort(indices.begin(), indices.end());
    same->indices = model::IndexSet(std::move(indices));
  }
  return assignments;
}

// All that is placed except the leaving members, as of one epoch.
std::vector<Assignment> assignmentsWithout(const Job& job, const std::vector<Assignment>& leaving) {
  std::vector<Assignment> kept;
  for (const Assignment& each : job.status.gang.placed->assignments) {
    std::vector<int> indices;
    for (const int index : each.indices.values()) {
      const bool leaves = std::any_of(leaving.begin(), leaving.end(), [&](const Assignment& gone) {
        return gone.role == each.role && gone.indices.contains(index);
      });
      if (!leaves) indices.push_back(index);
    }
    if (!indices.empty())
      kept = joined(std::move(kept), {{each.node, each.role, model::IndexSet(indices), 0, each.gpuType}});
  }
  return kept;
}

// Notifies the members that run, or are about to.
GangStep tell(const std::vector<Member>& members) {
  GangStep step;
  for (const Member& member : members) {
    if (member.pod == nullptr || member.pod->finished() || member.pod->terminating) continue;
    step.actions.emplace_back(NotifyMember{member.pod->key, member.pod->uid});
  }
  return step;
}

// Why members must not join a gang in this state; empty if they may.
std::string whyNotJoin(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kRunning: return {};
    case Outcome::kSucceeded: return "the job has ended meanwhile";
    case Outcome::kFailed:
    case Outcome::kLost: return verdict.message;
  }
  return {};
}

// If the templates change while the gang is not suspended, only its size can have been edited. Once a member
// is released, it costs less to complete the resize first.
bool sizeRequestedAgain(const Job& job, const std::vector<Member>& joining) {
  const Proposal& proposal = *job.status.gang.proposal;
  const bool same = proposal.generation == job.generation || proposal.templateHash == job.spec.templateHash;
  return !same && !job.spec.run.suspend && std::none_of(joining.begin(), joining.end(), [](const Member& m) {
    return m.pod != nullptr && !m.pod->gangGated;
  });
}

struct Parts {
  std::vector<Member> leaving;
  std::vector<Member> staying;
};

Parts partsOf(const Job& job, const JobPods& pods) {
  const Proposal& proposal = *job.status.gang.proposal;
  Parts parts;
  for (Member& member : placedMembers(job, *job.status.gang.placed, pods)) {
    auto& part = proposal.removes(member.role, member.index) ? parts.leaving : parts.staying;
    part.push_back(std::move(member));
  }
  return parts;
}

}  // namespace

std::optional<Resize> resizeUnderWay(const model::JobSpec& spec, const GangRecord& record) {
  if (!spec.elastic || !record.placed || !record.proposal || record.proposal->movesFor) return std::nullopt;
  const Proposal& proposal = *record.proposal;
  const std::string& role = spec.elastic->role;
  const int from = countOf(record.placed->assignments, role);
  switch (proposal.kind) {
    case ProposalKind::kGrow: return Resize{role, from, from + countOf(proposal.add, role), false};
    case ProposalKind::kShrink: return Resize{role, from, from - countOf(proposal.remove, role), false};
    case ProposalKind::kRestart: {
      const int to = countOf(proposal.add, role);
      if (proposal.add.empty() || to == from) return std::nullopt;
      return Resize{role, from, to, true};
    }
    default: return std::nullopt;
  }
}

std::string describeResize(const Resize& resize) {
  return fmt::format("{} from {} to {} members of role {}", resize.to > resize.from ? "grows" : "shrinks",
                     resize.from, resize.to, resize.role);
}

std::chrono::seconds timeToLeave(const model::JobSpec& spec, const Settings& settings) {
  const bool declared = spec.checkpoint && spec.checkpoint->gracePeriod.count() > 0;
  return std::min(declared ? spec.checkpoint->gracePeriod : kDefaultLeave, settings.maxGrace);
}

GangRecord proposeGrow(const Job& job, std::vector<Assignment> add, const Author& author) {
  if (resizeMethod(job.spec) != ResizeMethod::kByRestart)
    return propose(job, ProposalKind::kGrow, std::move(add), {}, {}, author);
  return propose(job, ProposalKind::kRestart, joined(assignmentsWithout(job, {}), add),
                 job.status.gang.placed->assignments, {}, author);
}

GangRecord proposeShrink(const Job& job, std::vector<Assignment> remove,
                         const std::optional<model::ObjectKey>& preemptor, const Author& author) {
  const bool byRestart = resizeMethod(job.spec) == ResizeMethod::kByRestart;
  std::vector<Assignment> add = byRestart ? assignmentsWithout(job, remove) : std::vector<Assignment>{};
  if (byRestart) remove = job.status.gang.placed->assignments;
  GangRecord record = propose(job, byRestart ? ProposalKind::kRestart : ProposalKind::kShrink, std::move(add),
                              std::move(remove), {}, author);
  record.proposal->movesFor = preemptor;
  if (!byRestart) record.proposal->deadline = author.now + timeToLeave(job.spec, *author.settings);
  return record;
}

GangRecord beginShrink(const Job& job, const Author& author) {
  GangRecord record = beginMove(job);
  record.proposal->deadline = author.now + timeToLeave(job.spec, *author.settings);
  return record;
}

std::optional<GangStep> stepGrow(const Job& job, const std::vector<Member>& joining, const JobPods& pods,
                                 const GangContext& context) {
  const std::vector<Member> before = placedMembers(job, *job.status.gang.placed, pods);
  if (job.status.gang.proposal->phase == ProposalPhase::kReleasing) {
    // A job that is deleted needs no notification, and a member that refuses it must not hold the deletion. A
    // suspended job is notified: it may be resumed before the suspension takes effect.
    if (!job.deleting && !context.feedback->membersNotified) {
      GangStep step = tell(before);
      if (!step.actions.empty()) return step;
    }
    return commit(mergeProposal(job));
  }
  std::string why = whyNotJoin(judge(job, before));
  if (why.empty() && sizeRequestedAgain(job, joining)) why = "another size was requested meanwhile";
  if (!why.empty()) return commit(abortProposal(job, why, {}, context.now, *context.settings));
  const bool bound = std::all_of(joining.begin(), joining.end(),
                                 [](const Member& m) { return m.pod != nullptr && m.pod->bound(); });
  if (!bound) return std::nullopt;
  if (resizeMethod(job.spec) != ResizeMethod::kNotified) return commit(mergeProposal(job));
  GangRecord record = job.status.gang;
  record.proposal->phase = ProposalPhase::kReleasing;
  // The time to notify the other members.
  record.proposal->deadline =
      std::max(record.proposal->deadline, context.now + timeToLeave(job.spec, *context.settings));
  return commit(std::move(record));
}

GangStep notifyStayingMembers(const Job& job, const JobPods& pods, const GangContext& context) {
  const bool replaces = job.status.gang.proposal->kind == ProposalKind::kReplace;
  if (!replaces || job.deleting || resizeMethod(job.spec) != ResizeMethod::kNotified ||
      context.feedback->membersNotified)
    return {};
  const Parts parts = partsOf(job, pods);
  GangStep step = tell(parts.staying);
  for (Action& each : tell(parts.leaving).actions) step.actions.push_back(std::move(each));
  return step;
}

GangStep stepShrink(const Job& job, const JobPods& pods, const GangContext& context) {
  const Proposal& proposal = *job.status.gang.proposal;
  const Parts parts = partsOf(job, pods);
  const bool over = job.deleting || job.spec.run.suspend;
  if (over || judge(job, parts.staying).outcome != Outcome::kRunning) return commit(mergeProposal(job));
  const bool notified = resizeMethod(job.spec) == ResizeMethod::kNotified;
  if (notified && !context.feedback->membersNotified) {
    GangStep step = tell(parts.staying);
    for (Action& each : tell(parts.leaving).actions) step.actions.push_back(std::move(each));
    if (!step.actions.empty()) return step;
  }
  const bool timeIsOver = !notified || context.now >= proposal.deadline;
  Removal removal(*context.ledger, *context.settings, context.now);
  bool anyLeft = false;
  for (const Member& member : parts.leaving) {
    if (member.pod == nullptr) continue;
    anyLeft = true;
    if (timeIsOver || member.pod->finished() || member.pod->terminating) removal.remove(*member.pod);
  }
  if (!anyLeft) return commit(mergeProposal(job));
  GangStep step;
  step.actions = removal.takeActions();
  step.wakeAt = removal.wakeAt();
  if (!timeIsOver) step.wakeAt = step.wakeAt ? std::min(*step.wakeAt, proposal.deadline) : proposal.deadline;
  return step;
}

std::optional<JobEvent> resizeEnded(const Job& job, const GangRecord& after) {
  const auto resize = resizeUnderWay(job.spec, job.status.gang);
  if (!resize || job.deleting) return std::nullopt;
  const bool was = job.status.gang.proposal->phase != ProposalPhase::kAborting;
  if (was && after.proposal && after.proposal->phase == ProposalPhase::kAborting) {
    return JobEvent{
        true, "ResizeFailed",
        fmt::format("{}: {}",
                    resize->byRestart ? "it could not start with its new size, and waits again"
                                      : fmt::format("it keeps its {} of role {}",
                                                    model::counted(resize->from, "member"), resize->role),
                    after.proposal->abortReason)};
  }
  if (!was || after.proposal || !after.placed) return std::nullopt;
  return JobEvent{false, "Resized",
                  fmt::format("it has {} of role {} now, {} before", model::counted(resize->to, "member"),
                              resize->role, resize->from)};
}

}  // namespace trainyard::core
