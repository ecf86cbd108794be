#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/queues/queue_cache.h"
#include "core/search/placement_cache.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What one cycle leaves to the next, so that a cycle costs as much as has changed. It changes no decision: an
// empty cache gives the same plan (tests/property/cache_properties.cpp), with two exceptions. With long
// constraints, earlier comparisons save work, so a cycle reaches more jobs. With an empty cache, reservations
// are as old as that of the oldest holder.
//
// Assumes that snapshots share unchanged objects: the same pointer is the same value. The cache keeps these
// objects alive, so that no new object can take an old one's address.
class CycleCache {
 public:
  // Called first in a cycle: drops what no longer holds for this snapshot's nodes and topology levels.
  void begin(const model::Snapshot& snapshot);
  // Called last in a cycle.
  void end(std::size_t jobs) { schedule_.end(jobs); }

  [[nodiscard]] const Domains& domains() const { return *domains_; }
  // What the cycle takes from the ledger is given back when the next cycle begins.
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] PlacementCache& schedule() { return schedule_; }

  // ScheduleRequest::reservedSince.
  [[nodiscard]] std::optional<base::WallTime>& reservedSince() { return reservedSince_; }

  [[nodiscard]] QueueCache& queues() { return queues_; }
  // The notes on the snapshot's jobs.
  [[nodiscard]] JobNotes& notes() { return schedule_.notes; }

 private:
  void followPods(const model::SharedList<model::Job>& jobs);
  [[nodiscard]] bool sameAdmissionInputs(const model::Snapshot& snapshot) const;

  model::SharedList<model::Node> nodes_;
  std::vector<model::TopologyLevel> levels_;
  std::unique_ptr<const Domains> domains_;
  Ledger ledger_;
  PlacementCache schedule_;
  std::optional<base::WallTime> reservedSince_;
  QueueCache queues_;
  // The inputs of the last cycle's admission checks.
  model::SharedList<model::Queue> queueList_;
  model::SharedList<model::PriorityClass> priorityClasses_;
  model::SharedList<model::Namespace> namespaces_;
  bool requireQueue_ = false;
};

}  // namespace trainyard::core
