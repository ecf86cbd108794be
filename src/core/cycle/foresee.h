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

// When a waiting job starts, where, and what that rests on.
struct Expectation {
  struct End {
    model::ObjectKey job;
    base::WallTime at{};
    bool waitsNow = false;  // it has not even started yet
  };
  base::WallTime start{};
  std::vector<model::Assignment> places = {};
  std::string where = {};                    // "2 nodes in rack r1"
  std::vector<End> after = {};               // gangs that end on these nodes before it, as they end
  std::vector<model::ObjectKey> stops = {};  // gangs that may be stopped for it by then
  std::vector<model::ObjectKey> moves = {};  // gangs that go elsewhere for it
  // When it may be placed as wide as it will be, where it first held out for closer places.
  std::optional<base::WallTime> relaxation = std::nullopt;
};

// What is to come of the jobs `whom`, which wait in the snapshot, as far as anything tells; jobs whose start
// nothing tells are left out.
//
// Assumes: a gang ends when core/timeline/ends.h expects it, by its owner's estimate or by what its kind
// took, and never where neither is known; nobody else comes, and nothing fails; pods that are going away are
// gone, and proposals that are under way come true; a gang that is stopped or moved starts over. Steps: from
// one known moment to the next (an estimate that is over, a wider level that will do, a minRuntime that has
// passed) schedule() is asked anew, and what it starts and stops has happened at once; until all of them have
// started, nothing is known to come, or after kMostMoments. (Lost: the first moment at which a job fits
// alone. It leaves out whoever is served before.)
[[nodiscard]] std::map<model::ObjectKey, Expectation> foresee(const model::Snapshot& snapshot,
                                                              const std::set<model::ObjectKey>& whom);

inline constexpr int kMostMoments = 1'000;

}  // namespace trainyard::core
