#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/place/place.h"
#include "core/timeline/backfill.h"
#include "core/timeline/freed_places.h"
#include "core/timeline/outlook.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The first of all jobs that have to wait for room: what is kept for it, and who may pass it.
//
// Assumes about ends what core/timeline/backfill.h does. Steps, for a job behind it that has found places;
// the first that holds decides:
//  1. its queue is guaranteed what it needs: it passes
//  2. its own estimate ends before the reserved time: it passes
//  3. gangs have left some of these nodes a moment ago (core/timeline/freed_places.h): not these, not now
//  4. it can be stopped, if need be by the head (core/queues/eligibility.h, mayStop): it passes
//  5. a time and places are reserved: it passes if it leaves these places their room
//  6. estimates tell no time: it passes as long as fewer than BackfillPolicy::passesWithoutEstimate have, in
//     all the time that the head waits
// Ties: none, who is served earlier asks earlier.
class Head {
 public:
  // `request`: for the head, as wide as it may ever be placed. `endings`: of the gangs that run, and of those
  // that the same schedule starts. Snapshot, ledger and domains outlive this.
  Head(std::shared_ptr<const model::Job> job, bool silent, const model::Pending& pending,
       const PlaceRequest& request, std::vector<Ending> endings, const model::Snapshot& snapshot,
       Ledger& ledger, const Domains& domains);

  enum class Verdict {
    kPasses,
    kKept,
    kKeptBriefly,  // for no other reason than that somebody has just left one of the nodes
  };
  // Whether the job may take these places. A yes counts.
  [[nodiscard]] Verdict judge(const model::Job& job, bool entitled,
                              const std::vector<model::Assignment>& places);
  // Whoever keeps off the first does not meet rule 3, off both neither that nor rule 5.
  [[nodiscard]] const std::vector<model::NodeName>& freedNodes() const { return freed_.nodes; }
  [[nodiscard]] std::vector<model::NodeName> reservedNodes() const { return reservation_.nodes(ledger_); }

  // When others will be able to start beside it.
  [[nodiscard]] Outlook outlook() const;
  // The next moment at which it may start, or something of what is kept for it is free for all.
  [[nodiscard]] std::optional<base::WallTime> wakeAt() const;

  // Why it waits, and how many have passed.
  [[nodiscard]] const model::Pending& pending() const { return pending_; }
  [[nodiscard]] const std::shared_ptr<const model::Job>& job() const { return job_; }
  [[nodiscard]] bool silent() const { return silent_; }

 private:
  [[nodiscard]] bool justFreed(const std::vector<model::Assignment>& places) const;
  [[nodiscard]] bool leavesReservedPlaces(const model::Job& job,
                                          const std::vector<model::Assignment>& places);

  std::shared_ptr<const model::Job> job_;
  bool silent_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  const Domains& domains_;
  std::vector<Ending> endings_;
  Reservation reservation_;
  FreedPlaces freed_;
  model::Pending pending_;
};

}  // namespace trainyard::core
