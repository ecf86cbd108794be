#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/order/run_facts.h"
#include "core/order/run_time_model.h"
#include "core/place/job_notes.h"
#include "core/timeline/promised_room.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What a time that lies ahead rests on, the weakest first.
enum class Basis {
  kGuess,   // nothing tells
  kLearnt,  // what others of the kind took (core/order/run_time_model.h)
  kStated,  // the owner's estimate, or that it is going away already
};

struct ExpectedTime {
  base::WallTime at{};
  Basis basis = Basis::kGuess;
};

// When a gang that holds room will have left it.
//
// Assumes: what is going away (a gang that is deleted or stopped, an attempt that is given up) is gone after
// kLeastOverrun. A job ends when its owner's estimate says, which is of the whole job: what it has behind it
// counts (core/order/job_times.h). One that has outrun its estimate ends after as long again as it has outrun
// it, at least kLeastOverrun, or as others of its kind do: whoever is a second late will be done in moments,
// and the longer it takes the less is known. (Lost: it may run for ever. Then half a second too much gives
// the reserved places to somebody who keeps them for hours.) Without an estimate it ends when half of its
// kind have ended; where nobody knows its kind, about as late again as it is old, an hour at first. Once a
// member has ended the others follow within moments: after as long again as since then, at least
// kLeastOverrun; of tasks that have nothing to do with each other that expects nothing for long. It is seen,
// not asked of nodes' clocks (model::FreedNode).
[[nodiscard]] ExpectedTime expectedEnd(const model::Job& job, base::WallTime now, RunTimeModel& runs);
// The same of a job of which these are the facts.
[[nodiscard]] ExpectedTime expectedEnd(const model::Job& job, const RunFacts& facts, base::WallTime now,
                                       RunTimeModel& runs);
// How long one will run that gets its places now, by the same rules; of one that has outrun its estimate that
// is a guess, as its owner has not said it.
struct ExpectedRun {
  std::chrono::seconds time{0};
  Basis basis = Basis::kGuess;
};
[[nodiscard]] ExpectedRun expectedRun(const model::Job& job, base::WallTime now, RunTimeModel& runs);
// The same where it must not be less: an owner's estimate counts, but no less than what nine of ten of the
// kind took.
[[nodiscard]] ExpectedRun cautiousRun(const model::Job& job, base::WallTime now, RunTimeModel& runs);

inline constexpr std::chrono::seconds kLeastOverrun{10};

// A gang that holds room, when it is expected to leave it, and the room.
struct Ending {
  base::WallTime at{};
  const model::Job* job = nullptr;
  Basis basis = Basis::kGuess;
  std::optional<NodeAmounts> holds =
      std::nullopt;        // asked for only where it matters: there are thousands that run
  bool isLeaving = false;  // it has ended, or goes back to waiting; its pods are going away
};

// All that becomes free by itself; the earlier first, then by namespace and name.
class Ends {
 public:
  // Costs nothing until somebody asks. `notes` follow the snapshot by then. All outlive this.
  Ends(const model::Snapshot& snapshot, const JobNotes& notes, const Ledger& ledger, RunTimeModel& runs)
      : snapshot_(snapshot), notes_(notes), ledger_(ledger), runs_(runs) {}

  [[nodiscard]] const std::vector<Ending>& all();
  [[nodiscard]] base::WallTime now() const { return snapshot_.now; }
  // What the one at `index` leaves to others than the claims that stand; per node the sum of its entries, of
  // which some may be negative.
  [[nodiscard]] const NodeAmounts& holds(std::size_t index);
  // The same ends, but a gang that a holder may preempt has ended by then for certain. Nothing where there is
  // none. `preemptibleFrom`: from when on the holder may preempt that gang, if ever.
  using PreemptibleFrom = std::function<std::optional<base::WallTime>(const model::Job&)>;
  [[nodiscard]] std::optional<Ends> seenBy(const PreemptibleFrom& preemptibleFrom);
  // A gang that the same plan starts.
  void add(const model::Job& job, const std::vector<model::Assignment>& places);

 private:
  const model::Snapshot& snapshot_;
  const JobNotes& notes_;
  const Ledger& ledger_;
  RunTimeModel& runs_;
  bool listed_ = false;
  std::optional<PromisedRoom> promised_;
  std::vector<Ending> all_;
};

// Keeps the list in order.
void insertEnding(std::vector<Ending>& endings, Ending ending);

}  // namespace trainyard::core
