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
#include "core/search/job_notes.h"
#include "core/timeline/promised_capacity.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The source of an expected time, the weakest first.
enum class Basis {
  kGuess,   // no estimate, no history
  kLearnt,  // the run times of similar jobs (core/order/run_time_model.h)
  kStated,  // the owner's estimate, or the gang is terminating already
};

struct ExpectedTime {
  base::WallTime at{};
  Basis basis = Basis::kGuess;
};

// When a gang that holds capacity is expected to have released it.
//
// Assumes: a terminating gang (deleted, preempted, or an aborted attempt) is gone after kMinOverrun. A
// job ends when its owner's estimate expires; the estimate covers the whole job, including its past
// progress (core/order/job_times.h). A job that exceeds its estimate is expected to run as long as
// similar jobs that got this far; without history, as long again as it has exceeded the estimate, at
// least kMinOverrun. (Rejected: it may run for ever. Then half a second too much gives the reserved nodes
// to a job that keeps them for hours.) Without an estimate a job ends when half of its kind have ended;
// without history, at twice its age, one hour at first. Once one member has ended, the others are
// expected to follow after as long again, at least kMinOverrun. If the tasks are independent of each
// other, that expectation soon gives way to the usual one. The time of the first end is when the operator
// observed it (model::FreedNode), not a node's clock.
[[nodiscard]] ExpectedTime expectedEnd(const model::Job& job, base::WallTime now, RunTimeModel& runs);
// As above, for a job with these RunFacts.
[[nodiscard]] ExpectedTime expectedEnd(const model::Job& job, const RunFacts& facts, base::WallTime now,
                                       RunTimeModel& runs);
// How long a job runs that starts now, by the same rules. If it has exceeded its estimate, the result is
// a guess, because its owner has not stated how long it still runs.
struct ExpectedRun {
  std::chrono::seconds time{0};
  Basis basis = Basis::kGuess;
};
[[nodiscard]] ExpectedRun expectedRun(const model::Job& job, base::WallTime now, RunTimeModel& runs);
// As expectedRun(), but rather too long than too short: an owner's estimate counts, but not less than
// what nine of ten similar jobs took.
[[nodiscard]] ExpectedRun cautiousRun(const model::Job& job, base::WallTime now, RunTimeModel& runs);

inline constexpr std::chrono::seconds kMinOverrun{10};

// A gang that holds capacity, when it is expected to release it, and that capacity.
struct Ending {
  base::WallTime at{};
  const model::Job* job = nullptr;
  Basis basis = Basis::kGuess;
  std::optional<NodeAmounts> holds =
      std::nullopt;        // computed only on demand, because thousands of gangs may run
  bool isLeaving = false;  // it has ended, or becomes pending again; its pods are terminating
};

// All capacity that becomes free without preemption; the earliest first, then by namespace and name.
class Ends {
 public:
  // Computes nothing before the first all(). `notes` match the snapshot by then. All must outlive this.
  Ends(const model::Snapshot& snapshot, const JobNotes& notes, const Ledger& ledger, RunTimeModel& runs)
      : snapshot_(snapshot), notes_(notes), ledger_(ledger), runs_(runs) {}

  [[nodiscard]] const std::vector<Ending>& all();
  [[nodiscard]] base::WallTime now() const { return snapshot_.now; }
  // What the end of the gang at `index` leaves to others than the standing claims. Per node it is the sum
  // of the entries, some of which may be negative.
  [[nodiscard]] const NodeAmounts& holds(std::size_t index);
  // The same ends, but a gang that the holder may preempt ends by that time for certain. Empty if there
  // is none. `preemptibleFrom`: from when on the holder may preempt that gang, if ever.
  using PreemptibleFrom = std::function<std::optional<base::WallTime>(const model::Job&)>;
  [[nodiscard]] std::optional<Ends> seenBy(const PreemptibleFrom& preemptibleFrom);
  // Adds a gang that the same plan starts.
  void add(const model::Job& job, const std::vector<model::Assignment>& assignments);

 private:
  const model::Snapshot& snapshot_;
  const JobNotes& notes_;
  const Ledger& ledger_;
  RunTimeModel& runs_;
  bool listed_ = false;
  std::optional<PromisedCapacity> promised_;
  std::vector<Ending> all_;
};

// Inserts at the sorted position.
void insertEnding(std::vector<Ending>& endings, Ending ending);

}  // namespace trainyard::core
