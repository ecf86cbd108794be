#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "core/preemption/claims.h"
#include "core/preemption/terminating_capacity.h"
#include "core/queues/quota_check.h"
#include "core/schedule/quota_placer.h"
#include "core/schedule/schedule_context.h"

namespace trainyard::core {

// The claim for a job: the gangs that are preempted or shrink for it. A job within its queue's guarantee also
// counts on members that terminate already (TerminatingCapacity):
//  - those that are gone as soon as its victims would be, if they spare victims;
//  - without a claim on victims alone, as few as possible of those that are gone first, unless the job may
//    find something else sooner: a gang that becomes preemptible, or nodes that are farther apart.
// If they suffice, the claim preempts no gang and keeps their capacity for the job.
//
// No claim is made while the job is about to be able to start without it:
//  - on what claims of a moment ago leave of their victims;
//  - unless it is within its guarantee, on what gangs leave that were placed before the job was created, and
//    whose other members have left idle nodes of the placement a moment ago: gangs end member by member.
// A moment is kMinOverrun. It begins when the first member of any gang leaves such a node, and only once
// while the snapshot remembers that. (Rejected: a moment for each gang. Helpers of gangs that run on end one
// after another, and the job waits for all of them. Rejected: to wait for all that terminates as soon as the
// victims would, or for gangs placed later. Tenants whose jobs end one after another, each in place of the
// other, keep a holder waiting for ever. Rejected: the second rule within a guarantee, whose time does not
// depend on what others do.)
class ClaimSearch {
 public:
  ClaimSearch(ScheduleContext& context, QuotaPlacer& placer) : in_(context), placer_(placer) {}

  // As Preemption::claim().
  [[nodiscard]] ClaimAnswer search(const PendingJob& pendingJob, const Preemptor& preemptor,
                                   std::size_t widest);

  // The same for shrinking gangs alone: Preemption::claimShrinking().
  [[nodiscard]] std::optional<Claim> searchShrinking(const Preemptor& preemptor, std::size_t widest);

  // For a job within its guarantee that `limit` would admit but for what terminates already. As above, the
  // claim counts on members that are gone as soon as the victims would be, or on those that are gone first;
  // what terminates later counts as used. No claim if those members suffice.
  [[nodiscard]] ClaimAnswer searchBeforeLeaving(const PendingJob& pendingJob, const Preemptor& preemptor,
                                                std::size_t widest, const Excess& limit);

  // The members that the claim waits for, beside its victims: on its nodes, and below limits that do not
  // admit `held` before they are gone. What they leave is added to `leaving`, what the victims leave.
  [[nodiscard]] std::vector<model::Victim> awaitedBy(const PendingJob& pendingJob, const Claim& claim,
                                                     const Amounts& held, PendingReleases& leaving);

 private:
  [[nodiscard]] bool canWait(const Preemptor& preemptor, std::size_t widest, const Claim& claim,
                             bool isGuaranteed);
  [[nodiscard]] ClaimAnswer sparing(const PendingJob& pendingJob, const Preemptor& preemptor,
                                    std::size_t widest, ClaimAnswer answer);
  [[nodiscard]] ClaimAnswer earliest(const PendingJob& pendingJob, const Preemptor& preemptor,
                                     std::size_t widest);
  [[nodiscard]] ClaimAnswer firstOf(const std::vector<base::WallTime>& times,
                                    const std::function<ClaimAnswer(base::WallTime)>& at);
  [[nodiscard]] ClaimAnswer claimOnce(const PendingJob& pendingJob, const Preemptor& preemptor,
                                      std::size_t widest, base::WallTime goneBy);
  [[nodiscard]] std::vector<const model::Job*> leavingGangs(const Preemptor& preemptor, const Claim& claim,
                                                            const std::set<const model::Job*>& except);
  [[nodiscard]] NodeAmounts leftOfVictims(std::set<const model::Job*>& counted);
  [[nodiscard]] bool fitsOnceLeft(const Preemptor& preemptor, std::size_t widest, const NodeAmounts& leaving,
                                  const PendingReleases& quotas);
  [[nodiscard]] std::vector<base::WallTime> endsWorthAwaiting(const PendingJob& pendingJob,
                                                              const Preemptor& preemptor);
  [[nodiscard]] bool fitsNow(const Preemptor& preemptor, std::size_t widest);
  [[nodiscard]] ClaimAnswer claimAtLimit(const Preemptor& preemptor, std::size_t widest, const Excess& limit,
                                         base::WallTime goneBy);
  [[nodiscard]] Amounts leavingAfter(base::WallTime goneBy, QueueTree::Index at);
  [[nodiscard]] const TerminatingCapacity& terminating();
  [[nodiscard]] base::WallTime victimsGoneBy(const Claim& claim) const;
  [[nodiscard]] PendingRelease releaseOf(const TerminatingMember& member) const;

  ScheduleContext& in_;
  QuotaPlacer& placer_;
  std::optional<TerminatingCapacity> terminating_;  // collected for the first that asks
};

}  // namespace trainyard::core
