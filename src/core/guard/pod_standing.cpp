#include "core/guard/pod_standing.h"

#include "core/ledger/members.h"
#include "model/gang_size.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

using model::NodeName;
using model::Pod;
using model::ProposalPhase;

bool fills(const model::Job& job, const model::Assignment& assignment, const Pod& pod) {
  return assignment.role == pod.member->role && assignment.indices.contains(pod.member->index) &&
         namedAsMember(pod, job);
}

const NodeName* addedNode(const model::Job& job, const model::Proposal& proposal, const Pod& pod) {
  for (const model::Assignment& assignment : proposal.add) {
    if (fills(job, assignment, pod)) return &assignment.node;
  }
  return nullptr;
}

// Members that were replaced or added later have an epoch of their own.
const NodeName* placedNode(const model::Job& job, const model::Placed& placed, const Pod& pod) {
  for (const model::Assignment& assignment : placed.assignments) {
    if (placed.epochOf(assignment) == pod.member->epoch && fills(job, assignment, pod))
      return &assignment.node;
  }
  return nullptr;
}

// An assigned node counts as long as in the Ledger: afterwards another gang may be placed there.
PodStanding inRecord(const model::Job& job, const Pod& pod) {
  const model::GangRecord& gang = job.status.gang;
  const std::int64_t epoch = pod.member->epoch;
  const bool over = job.deleting || job.finished();
  if (gang.proposal && gang.proposal->epoch == epoch) {
    if (const NodeName* node = addedNode(job, *gang.proposal, pod)) {
      const bool aborting = over || gang.proposal->phase == ProposalPhase::kAborting;
      return {aborting ? Standing::kAborting : Standing::kMember, &job, node};
    }
  }
  if (gang.placed) {
    if (const NodeName* node = placedNode(job, *gang.placed, pod)) {
      const bool replaced =
          over || (gang.proposal && gang.proposal->removes(pod.member->role, pod.member->index));
      return {replaced ? Standing::kAborting : Standing::kMember, &job, node};
    }
  }
  if (!gang.proposal && !gang.placed && epoch == gang.lastEpoch + 1 && model::isSinglePod(job) &&
      namedAsMember(pod, job)) {
    return {over ? Standing::kAborting : Standing::kOwnRecord, &job, nullptr};
  }
  // Epochs only grow: an epoch beyond every record means that the view is older than the pod.
  return {epoch > newestEpoch(gang) ? Standing::kUnknown : Standing::kNotRecorded, &job, nullptr};
}

}  // namespace

PodStanding podStandingOf(const GuardView& view, const model::Pod& pod) {
  if (!model::claimsGang(pod)) return {};
  const model::Job* job = view.findJob(model::gangUidOf(pod));
  if (job == nullptr) return {Standing::kUnknown, nullptr, nullptr};
  // An owner is in the namespace of what it owns; a pod elsewhere has copied the uid.
  if (job->key.ns != pod.key.ns) return {};
  if (!pod.member) return {Standing::kNotRecorded, job, nullptr};
  return inRecord(*job, pod);
}

}  // namespace trainyard::core
