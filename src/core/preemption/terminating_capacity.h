#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/preemption/candidate.h"
#include "model/gang.h"

namespace trainyard::core {

// A member that terminates already and whose node no record keeps: of a job that is suspended, deleted or
// ended, or that restarts without a placement.
struct TerminatingMember {
  std::size_t node = 0;  // index into Ledger::nodes()
  model::Victim pod;
  model::Resources amount;
  base::WallTime goneBy{};  // its metadata.deletionTimestamp
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

  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] NodeAmounts amounts() const;
  // What claims under way take of it.
  [[nodiscard]] const NodeAmounts& taken() const { return taken_; }
  // The members that the claim needs: on each of its nodes as many as have to go, beside its other victims,
  // until it fits; the first to go first. None if it does not count on any.
  [[nodiscard]] std::vector<model::Victim> needed(const model::Job& preemptor, const Claim& claim,
                                                  const Ledger& ledger) const;

 private:
  std::vector<TerminatingMember> members_;  // the first to go first
  NodeAmounts taken_;
};

}  // namespace trainyard::core
