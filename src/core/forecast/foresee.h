#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/gang.h"
#include "model/snapshot.h"

namespace trainyard::core {

// When and where a pending job is expected to start, and what that expectation rests on.
struct Expectation {
  struct End {
    model::ObjectKey job;
    base::WallTime at{};
    bool waitsNow = false;  // it has not started yet either
  };
  base::WallTime start{};
  std::vector<model::Assignment> assignments = {};
  std::string where = {};                    // "2 nodes in rack r1"
  std::vector<End> after = {};               // gangs that end on these nodes before that, by their ends
  std::vector<model::ObjectKey> stops = {};  // gangs that may be preempted for it by then
  std::vector<model::ObjectKey> moves = {};  // gangs that are moved for it
  // When its topology constraint is relaxed as far as it will be, if the job first waits for closer nodes.
  std::optional<base::WallTime> relaxation = std::nullopt;
};

// Returns what is expected of the given pending jobs, as far as it can be derived from the snapshot. Jobs
// without a known start are left out.
//
// Assumes: a gang ends when core/timeline/ends.h expects it, by its owner's estimate or by the run times of
// similar jobs; with neither, it never ends. No other job arrives, and nothing fails. Terminating pods are
// gone, and proposals under way succeed. A gang that is preempted or moved starts over. Steps: time goes from
// one known moment to the next: the end of an estimate, a wider level that suffices, a minRuntime that has
// passed. At each moment schedule() runs, and its starts and preemptions take effect at once. This ends when
// all jobs have started, when no further moment is known, or after kMaxMoments. (Rejected: the first moment
// at which a job fits alone. It leaves out the jobs that are served before it.)
[[nodiscard]] std::map<model::ObjectKey, Expectation> foresee(const model::Snapshot& snapshot,
                                                              const std::set<model::ObjectKey>& selected);

inline constexpr int kMaxMoments = 1'000;

}  // namespace trainyard::core
