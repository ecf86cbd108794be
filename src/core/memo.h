#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/domains.h"
#include "core/ledger.h"
#include "core/schedule_memo.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What one cycle leaves to the next, so that a cycle costs what has changed rather than what there is. It
// changes no decision: with an empty memo the plan is the same (tests/property/memo_properties.cpp).
//
// Assumes that snapshots share what did not change: the same pointer is the same value. Keeps what it points
// to alive, so that no new object can take an old one's address.
class Memo {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  // First in a cycle: forgets what does not hold for this snapshot's nodes and levels any more.
  void begin(const model::Snapshot& snapshot);
  // Last in a cycle: forgets jobs that are gone or have changed.
  void end(std::size_t jobs);

  [[nodiscard]] const Domains& domains() const { return *domains_; }
  // What the cycle takes from it is given back when the next one begins.
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] ScheduleMemo& schedule() { return schedule_; }

  // Jobs that nothing is to be done for, and that only a change of themselves, of their pods or of the nodes'
  // names and labels can give anything to do: those that run or have ended.
  [[nodiscard]] bool settled(const JobPtr& job, const JobPods& pods) { return settled_.has(job, pods); }
  void settle(const JobPtr& job, const JobPods& pods) { settled_.add(job, pods); }

  // Jobs without pods whose status says all there is to say about why they wait, as far as that is still why.
  [[nodiscard]] bool told(const JobPtr& job) { return told_.has(job, {}); }
  void tell(const JobPtr& job) { told_.add(job, {}); }

 private:
  class Jobs {
   public:
    [[nodiscard]] bool has(const JobPtr& job, const JobPods& pods);
    void add(const JobPtr& job, const JobPods& pods);
    void clear() { entries_.clear(); }
    // A round's questions count as use; what was not used in this one goes once there is much of it.
    void endRound(std::size_t jobs);

   private:
    struct Entry {
      JobPtr job;
      JobPods pods;
      std::uint64_t used = 0;
    };
    std::unordered_map<const model::Job*, Entry> entries_;
    std::uint64_t round_ = 0;
  };

  model::SharedList<model::Node> nodes_;
  std::vector<model::TopologyLevel> levels_;
  std::unique_ptr<const Domains> domains_;
  Ledger ledger_;
  ScheduleMemo schedule_;
  Jobs settled_;
  Jobs told_;
};

}  // namespace trainyard::core
