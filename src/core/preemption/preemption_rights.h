#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/preemption/running_gangs.h"
#include "core/preemption/victims.h"
#include "core/queues/eligibility.h"

namespace trainyard::core {

// Which running gangs a preemptor may preempt (core/queues/eligibility.h), alone and together.
class PreemptionRights {
 public:
  PreemptionRights(PreemptionContext& context, RunningGangs& gangs)
      : in_(context), gangs_(gangs), shares_(context.tree) {}

  // Each taken alone; cheapest first, with what it frees. Gangs that a claim has taken are left out.
  [[nodiscard]] std::vector<Candidate> candidatesFor(const Preemptor& preemptor);
  // The first time at which one of the gangs that the preemptor may preempt later could be gone: of
  // RunningGangs::later(), and of these. Nothing if there is none.
  [[nodiscard]] std::optional<base::WallTime> firstGoneLater(const Preemptor& preemptor,
                                                             const std::vector<LaterCandidate>& shrinking);
  // The candidates, cheapest first, that may still be preempted after those before them.
  [[nodiscard]] Chosen preemptibleTogether(const Preemptor& preemptor,
                                           const std::vector<Candidate>& candidates);
  [[nodiscard]] bool mayPreemptAll(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                   Chosen victims);
  // By right of queue, priority or reservation; not by time slicing.
  [[nodiscard]] bool mayPreempt(const Preemptor& preemptor, const Victim& victim);
  // The most of its last members that an elastic gang may give.
  [[nodiscard]] int maxMembersGiven(const Preemptor& preemptor, const Candidate& running);

  // Returns true if an equivalent job in no worse position has already failed to preempt, and no capacity has
  // changed since. Spends the budget that the search would spend.
  [[nodiscard]] bool hasNoCandidate(QueueTree::Index queue, const QueuePosition& position, bool mayPreempt);

 private:
  [[nodiscard]] std::vector<std::size_t> findCandidates(const Preemptor& preemptor);
  [[nodiscard]] bool mayPreemptLater(const Preemptor& preemptor, const LaterCandidate& gang);
  void addBackfilled(const Preemptor& preemptor, std::vector<std::size_t>& found);
  void addTimeSliced(const Preemptor& preemptor, std::vector<std::size_t>& found);
  [[nodiscard]] bool mayPreemptGang(const Preemptor& preemptor, const Candidate& running);
  [[nodiscard]] bool mayTimeSlice(const Preemptor& preemptor, const Candidate& running);
  [[nodiscard]] bool mayPreemptInOrder(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                       const Chosen& victims);
  void spend(std::size_t rights);

  PreemptionContext& in_;
  RunningGangs& gangs_;
  ShareCache shares_;
  // By queue, priority and whether its run was learnt (which makes worthPreempting() stricter), the merit of
  // the best preemptor that found no victim by time slicing. A preemptor of lesser merit finds none either.
  std::map<std::tuple<QueueTree::Index, int, bool>, double> noTimeSliceFor_;
};

// Charges these gangs to their queues again, or discharges them.
void setCharged(QueueTree& tree, const std::vector<Candidate>& candidates, const Chosen& victims,
                bool isCharged);

}  // namespace trainyard::core
