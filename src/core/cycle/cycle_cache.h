#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/placement_cache.h"
#include "core/queues/queue_cache.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What one cycle leaves to the next, so that a cycle costs what has changed rather than what there is. It
// changes no decision: with an empty cache the plan is the same (tests/property/cache_properties.cpp), but
// for two things. Where constraints are long, what was compared before leaves a cycle more of its work, and
// it reaches more jobs; and with an empty cache reservations are as old as the oldest holder.
//
// Assumes that snapshots share what did not change: the same pointer is the same value. Keeps what it points
// to alive, so that no new object can take an old one's address.
class CycleCache {
 public:
  // First in a cycle: forgets what does not hold for this snapshot's nodes and levels any more.
  void begin(const model::Snapshot& snapshot);
  // Last in a cycle.
  void end(std::size_t jobs) { schedule_.end(jobs); }

  [[nodiscard]] const Domains& domains() const { return *domains_; }
  // What the cycle takes from it is given back when the next one begins.
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] PlacementCache& schedule() { return schedule_; }

  // ScheduleRequest::reservedSince.
  [[nodiscard]] std::optional<base::WallTime>& reservedSince() { return reservedSince_; }

  [[nodiscard]] QueueCache& queues() { return queues_; }
  // Of the snapshot's jobs.
  [[nodiscard]] JobNotes& notes() { return schedule_.notes; }

 private:
  void followPods();
  [[nodiscard]] bool admitsAlike(const model::Snapshot& snapshot) const;

  model::SharedList<model::Node> nodes_;
  std::vector<model::TopologyLevel> levels_;
  std::unique_ptr<const Domains> domains_;
  Ledger ledger_;
  PlacementCache schedule_;
  std::optional<base::WallTime> reservedSince_;
  QueueCache queues_;
  // What admission went by last.
  model::SharedList<model::Queue> queueList_;
  model::SharedList<model::PriorityClass> priorityClasses_;
  model::SharedList<model::Namespace> namespaces_;
  bool requireQueue_ = false;
};

}  // namespace trainyard::core
