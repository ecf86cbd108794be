#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "core/cycle/cycle_context.h"
#include "core/preemption/claims.h"

namespace trainyard::core {

// The claims of earlier cycles that still wait for their victims, and what they take from which gang.
class ClaimsUnderWay {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  explicit ClaimsUnderWay(CycleContext& context);

  // The preemptor whose standing claim names the gang; null if none does.
  [[nodiscard]] const model::ObjectKey* preemptorOf(const model::ObjectKey& gang) const;
  // The same for a gang that is changing, if the claim names members that its own proposal would keep. It is
  // then preempted although it is changing. PlacedStep handles gangs without a proposal.
  [[nodiscard]] const model::ObjectKey* preemptorOfChanging(const model::Job& job) const;
  // Whether any claim names the gang, standing or not.
  [[nodiscard]] bool names(const model::ObjectKey& gang) const { return claimed_.contains(gang); }
  // Whether the gang has yet to give up nodes that were claimed.
  [[nodiscard]] bool holdsClaimed(const model::ObjectKey& gang) const {
    return holdingClaimed_.contains(gang);
  }
  [[nodiscard]] ClaimOnGang claimOf(const model::ObjectKey& preemptor, const model::Job& gang) const;
  // How many of its last members the claim takes from an elastic gang: no record shows that yet. 0: the
  // whole gang has to go, as the claim names other members or leaves less than the minimum.
  [[nodiscard]] int membersClaimed(const model::Job& job, const model::ObjectKey& preemptor) const;

  // What a claim takes counts as given up from the claim's record on, as in the cycle that made it. Until the
  // victims' records show it, it would count twice, and their queue would seem to have more to give.
  void count();

 private:
  [[nodiscard]] std::vector<JobPtr> claims() const;
  [[nodiscard]] std::vector<JobPtr> standingClaims() const;
  void findGangsHoldingClaimed();
  [[nodiscard]] PendingRelease releaseOf(const JobPtr& job, const model::Job& preemptor);
  [[nodiscard]] const std::unordered_set<model::Uid>& namedBy(const model::ObjectKey& preemptor) const;

  CycleContext& in_;
  std::map<model::ObjectKey, model::ObjectKey> standing_;  // gangs named by standing claims; the preemptor
  std::map<model::ObjectKey, model::ObjectKey> claimed_;   // by any claim
  std::set<model::ObjectKey> holdingClaimed_;
  mutable std::map<model::ObjectKey, std::unordered_set<model::Uid>> named_;  // by preemptor, on demand
};

// Whether the preemptor's job is of another queue than this one.
[[nodiscard]] bool isOfOtherQueue(const CycleContext& context, const model::ObjectKey& preemptor,
                                  const model::Job& job);

}  // namespace trainyard::core
