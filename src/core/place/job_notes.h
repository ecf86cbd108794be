#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/order/run_facts.h"
#include "core/order/standing.h"
#include "core/place/fragmentation.h"
#include "model/job.h"
#include "model/shared_list.h"

namespace trainyard::core {

// What is known of every job of a snapshot, side by side and kept from cycle to cycle until the job changes.
// In the jobs themselves it lies scattered, and to fetch it from there for twenty thousand of them costs more
// than to decide. Assumes what CycleCache assumes.
class JobNotes {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;
  static constexpr std::uint32_t kNoShape = UINT32_MAX;

  // Of a job that waits, what every cycle asks of it.
  struct Asks {
    Standing standing = {};
    int priority = 0;
    std::size_t queue = 0;  // QueueTree::Index
    // Since when places are kept for it.
    std::optional<base::WallTime> reservedSince = std::nullopt;
    std::optional<std::chrono::seconds> estimatedDuration = std::nullopt;
    bool preemptible = false;
    bool mayPreempt = false;  // Priorities::mayPreempt
    bool timesOut = false;    // spec.scheduling.timeoutSeconds
    // Neither elastic nor after a failed attempt: those of its shape, queue and priority find what it finds.
    bool plain = false;
    bool knowsTypes = false;  // how fast it is on several types of GPU: core/cycle/type_seekers.h
  };
  struct Note {
    std::uint32_t shape = kNoShape;  // PlacementCache::shapeOf
    // Nothing is to be done for it, and only a change of itself, of its pods or of the nodes' names and
    // labels can give it anything to do: it runs or has ended.
    bool settled = false;
    // Until then, where time alone gives it something to do.
    std::optional<base::WallTime> settledUntil = std::nullopt;
    // Without pods, admitted (its template aside), and waits for nothing but places.
    bool waits = false;
    // Since when it waits; absent: not looked up yet.
    std::optional<base::WallTime> waitingSince = std::nullopt;
    // Its status says all there is to say about why it waits, as long as that is why.
    std::shared_ptr<const model::Pending> told = nullptr;
    std::optional<Asks> asks = std::nullopt;  // absent: nobody asked yet
  };

  // Brings it up to the list, sorted by key. What changed is known by no note.
  void follow(const model::SharedList<model::Job>& jobs);
  // Forgets all notes; what follows from the jobs alone stays.
  void clear() { notes_.assign(notes_.size(), {}); }
  // Whoever waits has to be admitted anew, and told by whom.
  void clearAdmissions() {
    for (Note& note : notes_) {
      note.waits = false;
      note.told = nullptr;
    }
  }

  // Queues or priorities are others.
  void clearAsks() {
    for (Note& note : notes_) note.asks.reset();
  }

  // Whoever runs may have something to say again.
  void unsettle() {
    for (Note& note : notes_) note.settled = false;
  }

  // By position in the list.
  [[nodiscard]] Note& of(std::size_t position) { return notes_[position]; }
  // Where the job is, which is in the list; looks at `hint` first.
  [[nodiscard]] std::size_t find(const JobPtr& job, std::size_t hint) const;

  // In the order of the list: jobs that have a proposal; those that may be stopped, time aside.
  [[nodiscard]] const std::vector<JobPtr>& proposing() const { return proposing_; }
  [[nodiscard]] const std::vector<JobPtr>& stoppable() const { return stoppable_; }
  // In the order of the list: jobs that have places, or places on their way.
  struct Holder {
    JobPtr job;
    RunFacts facts;
  };
  [[nodiscard]] const std::vector<Holder>& holders() const { return holders_; }
  // Those whose last failure accuses a node.
  [[nodiscard]] const std::vector<JobPtr>& accusing() const { return accusing_; }
  // observedMix() of the list.
  [[nodiscard]] JobMix mix() const { return heaviest(members_); }

 private:
  void moveNotes(const model::SharedList<model::Job>& jobs);
  void followHolders(const model::SharedList<model::Job>& jobs);

  model::SharedList<model::Job> jobs_;
  std::vector<Note> notes_;
  std::vector<JobPtr> proposing_;
  std::vector<JobPtr> stoppable_;
  std::vector<JobPtr> accusing_;
  std::vector<Holder> holders_;
  MemberCounts members_;
};

}  // namespace trainyard::core
