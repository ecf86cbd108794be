#include "core/cycle/claims_under_way.h"

#include <algorithm>
#include <utility>

#include "core/gang/victim_assignment.h"
#include "core/queues/eligibility.h"
#include "core/queues/holdings.h"
#include "core/resize.h"

namespace trainyard::core {
namespace {

bool sharesNode(const std::vector<model::Assignment>& a, const std::vector<model::Assignment>& b) {
  return std::any_of(a.begin(), a.end(), [&](const model::Assignment& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const model::Assignment& other) { return one.node == other.node; });
  });
}

}  // namespace

ClaimsUnderWay::ClaimsUnderWay(CycleContext& context) : in_(context) {
  standing_ = claimedGangs(standingClaims(), in_.input.snapshot.pods);
  claimed_ = claimedGangs(claims(), in_.input.snapshot.pods);
  findGangsHoldingClaimed();
}

std::vector<ClaimsUnderWay::JobPtr> ClaimsUnderWay::claims() const {
  std::vector<JobPtr> claims = in_.cache.notes().proposing();
  std::erase_if(claims, [](const JobPtr& job) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    return proposal.victims.empty() || proposal.phase == model::ProposalPhase::kAborting;
  });
  return claims;
}

// No gang is preempted for a claim that is still being written, because that write may fail. Nor is any
// preempted for a claim that does not stand yet.
std::vector<ClaimsUnderWay::JobPtr> ClaimsUnderWay::standingClaims() const {
  std::vector<JobPtr> standing = claims();
  std::erase_if(standing, [&](const JobPtr& job) {
    const JobFeedback& feedback = in_.feedbackOf(job->key);
    return feedback.busy || !stepProposal(*job, in_.podsOf(*job), in_.gangContext(feedback)).evicts;
  });
  return standing;
}

// They lost claimed members while their records still hold the nodes. Either their own write is late, or they
// were suspended and resumed.
void ClaimsUnderWay::findGangsHoldingClaimed() {
  const model::Snapshot& snapshot = in_.input.snapshot;
  for (const JobPtr& preemptor : claims()) {
    const model::Proposal& claim = *preemptor->status.gang.proposal;
    const bool stays = !preemptor->deleting && !preemptor->spec.run.suspend;
    const bool stands = stays && snapshot.now < claim.deadline;
    if (!stands || claim.phase != model::ProposalPhase::kClaiming) continue;
    for (const model::Victim& victim : claim.victims) {
      const model::Pod* pod = findVictim(snapshot.pods, victim);
      if (pod != nullptr && !pod->finished()) continue;
      const VictimAssignment place = placeOf(victim, snapshot.pods, snapshot.jobs);
      if (place.gang != nullptr && !place.givenUp && !place.gang->status.gang.proposal)
        holdingClaimed_.insert(place.gang->key);
    }
  }
}

const model::ObjectKey* ClaimsUnderWay::preemptorOf(const model::ObjectKey& gang) const {
  if (standing_.empty()) return nullptr;
  const auto found = standing_.find(gang);
  return found == standing_.end() ? nullptr : &found->second;
}

const model::ObjectKey* ClaimsUnderWay::preemptorOfChanging(const model::Job& job) const {
  const auto& proposal = job.status.gang.proposal;
  if (standing_.empty() || !proposal || !job.status.gang.placed || !preemptible(job)) return nullptr;
  const model::ObjectKey* preemptor = preemptorOf(job.key);
  if (preemptor == nullptr) return nullptr;
  const auto& named = namedBy(*preemptor);
  const bool removes = proposal->phase == model::ProposalPhase::kClaiming;
  // The restart deletes its pods, but takes nodes again that are claimed. A restart that moves for the claim
  // takes other nodes.
  const JobPtr* claimant = in_.find(*preemptor);
  const bool takesAgain = proposal->kind == model::ProposalKind::kRestart && claimant != nullptr &&
                          (*claimant)->status.gang.proposal &&
                          sharesNode(proposal->add, (*claimant)->status.gang.proposal->add);
  for (const auto& pod : in_.podsOf(job)) {
    const bool leaves =
        removes && !takesAgain && pod->member && proposal->removes(pod->member->role, pod->member->index);
    if (named.contains(pod->uid) && !leaves) return preemptor;
  }
  return nullptr;
}

ClaimOnGang ClaimsUnderWay::claimOf(const model::ObjectKey& preemptor, const model::Job& gang) const {
  const JobPtr* claimant = in_.find(preemptor);
  return claimant == nullptr ? ClaimOnGang{}
                             : claimOn(gang, in_.podsOf(gang), **claimant, in_.input.snapshot.pods);
}

int ClaimsUnderWay::membersClaimed(const model::Job& job, const model::ObjectKey& preemptor) const {
  if (!givesMembers(job) || resizeMethod(job.spec) == ResizeMethod::kByRestart) return 0;
  const auto& victims = namedBy(preemptor);
  const int has = elasticMembers(job);
  int gives = 0;
  int first = has;
  for (const auto& pod : in_.podsOf(job)) {
    if (!victims.contains(pod->uid)) continue;
    if (!pod->member || pod->member->role != job.spec.elastic->role) return 0;
    ++gives;
    first = std::min(first, pod->member->index);
  }
  return first == has - gives && first >= job.spec.elastic->minReplicas ? gives : 0;
}

void ClaimsUnderWay::count() {
  std::map<model::ObjectKey, std::vector<model::ObjectKey>> takes;
  for (const auto& [gang, preemptor] : claimed_) takes[preemptor].push_back(gang);
  for (const auto& [key, gangs] : takes) {
    const model::Job& preemptor = **in_.find(key);
    if (preemptor.status.gang.proposal->phase != model::ProposalPhase::kClaiming) continue;
    PendingReleases leaving;
    for (const model::ObjectKey& gang : gangs) {
      if (const JobPtr* job = in_.find(gang)) add(leaving, releaseOf(*job, preemptor));
    }
    countOnce(in_.queues, in_.queues.queueOf(preemptor), holdingsOf(in_.queues.capacity(), preemptor),
              leaving);
  }
}

// Returns what the claim takes from the job. From now on that is charged as leaving.
PendingRelease ClaimsUnderWay::releaseOf(const JobPtr& job, const model::Job& preemptor) {
  const model::GangRecord& gang = job->status.gang;
  const ClusterCapacity& capacity = in_.queues.capacity();
  PendingRelease leaves{in_.queues.queueOf(*job), {}};
  if (gang.placed && !gang.proposal && !job->finished() && !in_.ended.contains(job.get())) {
    const int gives = membersClaimed(*job, preemptor.key);
    leaves.amounts = heldBy(capacity, *job, gives > 0 ? lastMembers(*job, gives) : gang.placed->assignments);
    in_.queues.markLeaving(leaves.queue, leaves.amounts);
    return leaves;
  }
  JobPods named;
  const auto& victims = namedBy(preemptor.key);
  for (const auto& pod : in_.podsOf(*job)) {
    if (victims.contains(pod->uid)) named.push_back(pod);
  }
  leaves.amounts = heldBy(capacity, named);
  if (in_.ended.contains(job.get())) return leaves;
  const Amounts charged = leavingOf(capacity, *job, in_.podsOf(*job));
  for (std::size_t d = 0; d < charged.size(); ++d)
    leaves.amounts[d] = std::min(leaves.amounts[d], charged[d]);
  return leaves;
}

// Returns the victims of the preemptor's claim, as a set: claims and gangs may have thousands of pods.
const std::unordered_set<model::Uid>& ClaimsUnderWay::namedBy(const model::ObjectKey& preemptor) const {
  const auto [known, isNew] = named_.try_emplace(preemptor);
  if (!isNew) return known->second;
  const JobPtr* job = in_.find(preemptor);
  if (job != nullptr && (*job)->status.gang.proposal) {
    for (const model::Victim& each : (*job)->status.gang.proposal->victims) known->second.insert(each.uid);
  }
  return known->second;
}

bool isOfOtherQueue(const CycleContext& context, const model::ObjectKey& preemptor, const model::Job& job) {
  const auto* other = context.find(preemptor);
  return other != nullptr && context.queues.queueOf(**other) != context.queues.queueOf(job);
}

}  // namespace trainyard::core
