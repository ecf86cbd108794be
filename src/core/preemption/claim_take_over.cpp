#include "core/preemption/claim_take_over.h"

#include <algorithm>
#include <utility>

#include "core/ledger/what_if.h"
#include "core/queues/eligibility.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "model/charge.h"

namespace trainyard::core {

const std::vector<ClaimTakeOver::JobPtr>& ClaimTakeOver::claiming() {
  if (claiming_) return *claiming_;
  claiming_.emplace();
  for (const JobPtr& job : in_.notes.proposing()) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    const bool claims =
        proposal.kind == model::ProposalKind::kStart && proposal.phase == model::ProposalPhase::kClaiming;
    if (claims) claiming_->push_back(job);
  }
  return *claiming_;
}

bool ClaimTakeOver::anyBelow(QueueTree::Index queue, int priority) {
  if (!any()) return false;
  const Priorities priorities(in_.snapshot);
  return std::any_of(claiming().begin(), claiming().end(), [&](const JobPtr& job) {
    return in_.tree.queueOf(*job) == queue && priorities.of(*job) < priority;
  });
}

std::optional<ClaimTakeOver::JobPtr> ClaimTakeOver::takeOver(const Preemptor& preemptor, std::size_t widest) {
  if (tookOver_) return std::nullopt;
  if (forbidsPreemptionWithin(in_.tree.node(preemptor.queue))) return std::nullopt;
  const Priorities priorities(in_.snapshot);
  if (!any() || !priorities.mayPreempt(*preemptor.job)) return std::nullopt;
  for (const JobPtr& job : claiming()) {
    if (in_.tree.queueOf(*job) != preemptor.queue) continue;
    if (priorities.of(*job) >= preemptor.priority || !fitsWithout(*job, preemptor, widest)) continue;
    tookOver_ = true;
    return job;
  }
  return std::nullopt;
}

// Whether `asking` has a placement within its queue's quota once the other claim is given up.
bool ClaimTakeOver::fitsWithout(const model::Job& other, const Preemptor& asking, std::size_t widest) {
  const QueueTree::Index queue = in_.tree.queueOf(other);
  const Amounts held = holdingsOf(in_.tree.capacity(), other);
  const bool nonPreemptible = !model::chargedPreemptible(other);
  in_.tree.discharge(queue, held, nonPreemptible);
  bool fits =
      isWithinGuarantee(in_.tree, asking.queue, asking.demand) || !isWithinGuarantee(in_.tree, queue, held);
  if (fits) {
    const NodeAmounts amounts = amountsOf(other, other.status.gang.proposal->add, in_.ledger);
    WhatIf victims(in_.ledger);
    victims.release(amounts);
    auto placement =
        placer_.quotaAllows(asking, nullptr) ? placer_.place(asking, widest) : std::optional<Placement>();
    fits = placement && !placer_.waitsForTerminating(asking, {std::move(*placement), {}});
  }
  in_.tree.charge(queue, held, nonPreemptible);
  return fits;
}

}  // namespace trainyard::core
