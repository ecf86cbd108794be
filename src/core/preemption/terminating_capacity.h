#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/preemption/candidate.h"
#include "model/gang.h"

namespace trainyard::core {

// A member that terminates already and whose place on its node no record keeps.
struct TerminatingMember {
  std::size_t node = 0;  // index into Ledger::nodes()
  const model::Pod* pod = nullptr;
  const model::Job* job = nullptr;  // nullptr: it does not exist any more
  model::Resources left;            // beyond what claims under way take
  base::WallTime goneBy{};          // its metadata.deletionTimestamp
};

// Capacity that becomes free without a further preemption: that of members that terminate already, beyond
// what claims under way take of it. The claim of a job within its queue's guarantee may count on it, and
// waits for these members as for victims. (Rejected: only what has terminated counts. A tenant that deletes
// its jobs one after another delays a guarantee by the grace of each. Rejected: any claim counts on it.
// Claims of borrowers took it first.)
class TerminatingCapacity {
 public:
  // `proposing`: the snapshot's jobs that have a proposal. Members that are late or on a node that is not
  // ready do not count: victims would be preempted in vain.
  TerminatingCapacity(const Ledger& ledger, const std::vector<std::shared_ptr<const model::Job>>& proposing,
                      base::WallTime now);

  // The first to go first.
  [[nodiscard]] const std::vector<TerminatingMember>& members() const { return members_; }
  // What the members leave that are gone by then. Without those of the gangs of `candidates`, which the
  // preemptor may preempt as a whole.
  [[nodiscard]] NodeAmounts amounts(base::WallTime goneBy,
                                    const std::set<const model::Job*>& candidates) const;
  // What claims of the last kMinOverrun leave of their victims that do not terminate yet.
  [[nodiscard]] NodeAmounts leftOfVictims() const;
  // When members are gone: each time once, in order.
  [[nodiscard]] std::vector<base::WallTime> ends() const;
  // The members that the claim needs: on each of its nodes as many as have to go, beside its other victims,
  // until it fits; the first to go first. None if it does not count on any.
  [[nodiscard]] std::vector<const TerminatingMember*> needed(const model::Job& preemptor, const Claim& claim,
                                                             const Ledger& ledger) const;

 private:
  void take(const model::Job& claimant, const Ledger& ledger);
  void indexByNode();
  // Indices into members_; the first to go first.
  [[nodiscard]] const std::vector<std::size_t>& at(std::size_t node) const;

  std::vector<TerminatingMember> members_;
  std::vector<TerminatingMember> victims_;                            // leftOfVictims()
  std::unordered_map<std::size_t, std::vector<std::size_t>> byNode_;  // indices into members_
};

}  // namespace trainyard::core
