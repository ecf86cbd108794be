#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/order/queue_position_facts.h"
#include "core/order/run_facts.h"
#include "core/place/fragmentation.h"
#include "model/job.h"
#include "model/shared_list.h"

namespace trainyard::core {

// Data on every job of a snapshot, stored contiguously and kept from cycle to cycle until the job
// changes. In the jobs themselves it is scattered, and to fetch it for twenty thousand of them costs more
// than to decide. Assumes what CycleCache assumes.
class JobNotes {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;
  static constexpr std::uint32_t kNoShape = UINT32_MAX;

  // What every cycle needs of a pending job.
  struct PendingFacts {
    QueuePositionFacts queuePositionFacts = {};
    int priority = 0;
    std::size_t queue = 0;  // QueueTree::Index
    // Since when the job has held a reservation.
    std::optional<base::WallTime> reservedSince = std::nullopt;
    std::optional<std::chrono::seconds> estimatedDuration = std::nullopt;
    bool preemptible = false;
    bool mayPreempt = false;  // Priorities::mayPreempt
    bool timesOut = false;    // spec.scheduling.timeoutSeconds
    // Neither elastic nor after a failed attempt: jobs of its shape, queue and priority get the same answer.
    bool plain = false;
    bool knowsTypes = false;  // its speed on several types of GPU is known: core/schedule/type_seekers.h
  };
  struct Note {
    std::uint32_t shape = kNoShape;  // PlacementCache::shapeOf
    // The job runs or has ended, and has no step to do. Only a change of itself, of its pods or
    // of the nodes' names and labels can cause one.
    bool settled = false;
    // The end of `settled`, if the clock alone causes a step.
    std::optional<base::WallTime> settledUntil = std::nullopt;
    // Without pods, admitted (apart from its template), and waits only for a placement.
    bool waits = false;
    // Since when the job is pending; absent: not computed yet.
    std::optional<base::WallTime> waitingSince = std::nullopt;
    // The status already has this message, which is complete as long as the reason stays.
    std::shared_ptr<const model::Pending> reported = nullptr;
    std::optional<PendingFacts> pendingFacts = std::nullopt;  // absent: not computed yet
  };

  // Updates the notes to the list, which is sorted by key. A changed job gets an empty note.
  void follow(const model::SharedList<model::Job>& jobs);
  // Clears all notes; the lists that depend on the jobs alone stay.
  void clear() { notes_.assign(notes_.size(), {}); }
  // Pending jobs must be admitted again, and their messages computed again.
  void clearAdmissions() {
    for (Note& note : notes_) {
      note.waits = false;
      note.reported = nullptr;
    }
  }

  // Queues or priorities have changed.
  void clearPendingFacts() {
    for (Note& note : notes_) note.pendingFacts.reset();
  }

  // Running jobs may have a step to do again.
  void unsettle() {
    for (Note& note : notes_) note.settled = false;
  }

  // By position in the list.
  [[nodiscard]] Note& of(std::size_t position) { return notes_[position]; }
  // The position of the job, which must be in the list; checks `hint` first.
  [[nodiscard]] std::size_t find(const JobPtr& job, std::size_t hint) const;

  // In the order of the list: jobs that have a proposal; jobs for which preemptibleNow() is true, whatever
  // the time.
  [[nodiscard]] const std::vector<JobPtr>& proposing() const { return proposing_; }
  [[nodiscard]] const std::vector<JobPtr>& preemptibleNow() const { return preemptibleNow_; }
  // In the order of the list: jobs that have a placement, or have one proposed.
  struct Holder {
    JobPtr job;
    RunFacts facts;
  };
  [[nodiscard]] const std::vector<Holder>& holders() const { return holders_; }
  // Jobs with a last failure that accuses a node.
  [[nodiscard]] const std::vector<JobPtr>& accusing() const { return accusing_; }
  // observedMix() of the list.
  [[nodiscard]] JobMix mix() const { return heaviest(members_); }

 private:
  void moveNotes(const model::SharedList<model::Job>& jobs);
  void followHolders(const model::SharedList<model::Job>& jobs);

  model::SharedList<model::Job> jobs_;
  std::vector<Note> notes_;
  std::vector<JobPtr> proposing_;
  std::vector<JobPtr> preemptibleNow_;
  std::vector<JobPtr> accusing_;
  std::vector<Holder> holders_;
  MemberCounts members_;
};

}  // namespace trainyard::core
