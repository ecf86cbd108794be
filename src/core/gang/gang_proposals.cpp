#include "core/gang/gang_proposals.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/lifecycle.h"

namespace trainyard::core {
namespace {

using model::Assignment;
using model::GangRecord;
using model::Job;
using model::NodeName;
using model::Proposal;
using model::ProposalKind;
using model::ProposalPhase;

std::string_view idPrefix(ProposalKind kind) {
  switch (kind) {
    case ProposalKind::kStart: return "start";
    case ProposalKind::kGrow: return "grow";
    case ProposalKind::kShrink: return "shrink";
    case ProposalKind::kReplace: return "replace";
    case ProposalKind::kRestart: return "restart";
  }
  return "change";
}

base::WallTime startDeadline(const std::vector<Assignment>& add, base::WallTime now,
                             const Settings& settings) {
  return now + settings.startDeadline + settings.startDeadlinePerMember * memberCount(add);
}

// More than a status should list. A gang that failed on so many nodes does not fail because of them.
constexpr std::size_t kMaxAvoided = 500;

// Adds the failed nodes at the end; each node appears once.
void avoidToo(std::vector<NodeName>& avoided, const std::vector<NodeName>& failed) {
  for (const NodeName& node : failed) {
    std::erase(avoided, node);
    avoided.push_back(node);
  }
  if (avoided.size() <= kMaxAvoided) return;
  avoided.erase(avoided.begin(), avoided.end() - static_cast<std::ptrdiff_t>(kMaxAvoided));
}

model::IndexSet without(const model::IndexSet& from, const std::vector<Assignment>& taken,
                        const std::string& role) {
  std::vector<int> left;
  for (const int index : from.values()) {
    const bool gone = std::any_of(taken.begin(), taken.end(), [&](const Assignment& assignment) {
      return assignment.role == role && assignment.indices.contains(index);
    });
    if (!gone) left.push_back(index);
  }
  return model::IndexSet(std::move(left));
}

}  // namespace

base::WallTime::duration backoffDelay(int attempt, const Settings& settings) {
  base::WallTime::duration delay = settings.backoffBase;
  for (int i = 1; i < attempt && delay < settings.backoffMax; ++i) delay *= 2;
  return std::min<base::WallTime::duration>(delay, settings.backoffMax);
}

std::optional<base::WallTime> backsOffUntil(const GangRecord& gang, base::WallTime now) {
  // Clocks of two leaders agree as far as base::Executor::kWallTolerance.
  constexpr std::chrono::seconds kSkew{5};
  if (!gang.backoff || now >= gang.backoff->until) return std::nullopt;
  const base::WallTime::duration longest =
      gang.backoff->count == 0 ? base::WallTime::duration(kLongestPause) : Settings().backoffMax;
  if (gang.backoff->until > now + longest + kSkew) return std::nullopt;
  return gang.backoff->until;
}

std::int64_t memberCount(const std::vector<Assignment>& assignments) {
  std::int64_t count = 0;
  for (const Assignment& assignment : assignments)
    count += static_cast<std::int64_t>(assignment.indices.size());
  return count;
}

GangRecord propose(const Job& job, ProposalKind kind, std::vector<Assignment> add,
                   std::vector<Assignment> remove, std::vector<model::Victim> victims, const Author& author) {
  GangRecord record = job.status.gang;
  record.lastEpoch += 1;
  Proposal proposal;
  proposal.id = fmt::format("{}-{}", idPrefix(kind), record.lastEpoch);
  proposal.kind = kind;
  proposal.phase = remove.empty() && victims.empty() ? ProposalPhase::kReserved : ProposalPhase::kClaiming;
  proposal.epoch = record.lastEpoch;
  proposal.term = author.term;
  proposal.generation = job.generation;
  proposal.templateHash = job.spec.templateHash;
  proposal.deadline = proposal.phase == ProposalPhase::kClaiming
                          ? author.now + author.settings->claimDeadline
                          : startDeadline(add, author.now, *author.settings);
  proposal.add = std::move(add);
  proposal.remove = std::move(remove);
  proposal.victims = std::move(victims);
  record.proposal = std::move(proposal);
  return record;
}

GangRecord recordOfPod(const Job& job, const model::Pod& pod, const Settings& settings) {
  const Author author{.term = 0, .now = pod.created, .settings = &settings};
  return propose(job, ProposalKind::kStart,
                 {{pod.node, pod.member->role, model::IndexSet({pod.member->index})}}, {}, {}, author);
}

GangRecord proposeMove(const Job& job, std::vector<Assignment> add, const model::ObjectKey& preemptor,
                       const Author& author) {
  GangRecord record =
      propose(job, ProposalKind::kRestart, std::move(add), job.status.gang.placed->assignments, {}, author);
  record.proposal->movesFor = preemptor;
  return record;
}

GangRecord beginMove(const Job& job) {
  GangRecord record = job.status.gang;
  record.proposal->movesFor.reset();
  return record;
}

GangRecord withdrawMove(const Job& job) {
  GangRecord record = job.status.gang;
  record.proposal.reset();
  return record;
}

GangRecord reserveClaimed(const Job& job, base::WallTime now, const Settings& settings) {
  GangRecord record = job.status.gang;
  record.proposal->phase = ProposalPhase::kReserved;
  record.proposal->victims.clear();
  record.proposal->deadline = startDeadline(record.proposal->add, now, settings);
  return record;
}

GangRecord abortProposal(const Job& job, std::string reason, const std::vector<NodeName>& avoid,
                         base::WallTime now, const Settings& settings, bool isUnbindable) {
  GangRecord record = job.status.gang;
  record.proposal->phase = ProposalPhase::kAborting;
  record.proposal->abortReason = reason;
  model::Backoff backoff = record.backoff.value_or(model::Backoff{});
  backoff.count += 1;
  backoff.until = now + backoffDelay(backoff.count, settings);
  avoidToo(backoff.avoidNodes, avoid);
  if (isUnbindable) backoff.unbindable = record.proposal->generation;
  backoff.reason = std::move(reason);
  record.backoff = std::move(backoff);
  return record;
}

GangRecord mergeProposal(const Job& job) {
  GangRecord record = job.status.gang;
  const Proposal proposal = *record.proposal;
  record.proposal.reset();
  const bool whole = proposal.kind == ProposalKind::kStart || proposal.kind == ProposalKind::kRestart;
  // A gang that becomes pending again after a failure may have to wait until a set time.
  if (!whole || !proposal.add.empty()) record.backoff.reset();
  if (whole) {
    record.placed.reset();
    if (!proposal.add.empty()) record.placed = model::Placed{proposal.epoch, proposal.add};
    if (!record.placed) record.charge.reset();
    return record;
  }
  if (!record.placed) record.placed = model::Placed{proposal.epoch, {}};
  std::vector<Assignment> kept;
  for (Assignment assignment : record.placed->assignments) {
    assignment.indices = without(assignment.indices, proposal.remove, assignment.role);
    if (assignment.indices.size() > 0) kept.push_back(std::move(assignment));
  }
  for (Assignment added : proposal.add) {
    added.epoch = proposal.epoch;
    kept.push_back(std::move(added));
  }
  record.placed->assignments = std::move(kept);
  record.placed->forgetSucceeded(proposal.remove);
  record.placed->forgetSucceeded(proposal.add);
  return record;
}

GangRecord proposeEviction(const Job& job, const Author& author) {
  const GangRecord& before = job.status.gang;
  // In Claiming, the pods that the proposal adds cannot be bound.
  if (!before.proposal || before.proposal->phase == ProposalPhase::kClaiming)
    return propose(job, ProposalKind::kRestart, {}, before.placed->assignments, {}, author);
  Job merged = job;
  merged.status.gang = mergeProposal(job);
  merged.status.gang.backoff = before.backoff;
  return propose(merged, ProposalKind::kRestart, {}, merged.status.gang.placed->assignments, {}, author);
}

GangRecord dropProposal(const Job& job) {
  GangRecord record = job.status.gang;
  if (record.proposal->kind == ProposalKind::kRestart) record.placed.reset();
  record.proposal.reset();
  if (!record.placed) record.charge.reset();
  return record;
}

}  // namespace trainyard::core
