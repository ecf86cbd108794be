#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace trainyard::core {

// What a synchronous job's parameter servers send through one link: a burst, then nothing while the workers
// compute and answer, and so on.
struct BurstProfile {
  std::int64_t bytes = 0;            // of one burst
  std::chrono::microseconds gap{0};  // from its end to the begin of the next one
  friend bool operator==(const BurstProfile&, const BurstProfile&) = default;
};

// Shared: all that send have equal parts, as TCP gives them. Strict: the first in the order that sends has
// all of the link. Rotated: strict, every job having each place in the order for an equal time.
enum class LinkOrder { kShared, kStrict, kRotated };

// How fast each job goes on its own order's link, in permille of its speed alone there; `jobs` in their
// order.
//
// A fluid model: bursts drain at their part of the link, events are ends of bursts and gaps. Assumes that the
// link is what the jobs wait for. Gaps vary by up to a tenth, by a fixed sequence: without that a job would
// meet its gap in the traffic of another for ever, or never, where in truth it misses it now and then. A
// formula was the alternative; none tells who just misses his gap. Its work is bounded: it looks at 6,000
// events at most for each order tried.
[[nodiscard]] std::vector<int> linkSpeeds(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond,
                                          LinkOrder order);

// What to do with an order of jobs.
enum class Discipline {
  kStrict,      // as ordered: nobody loses
  kRotate,      // the order by turns: strict somebody would lose, by turns nobody does, and something is won
  kGuaranteed,  // the link is full: who is first wins what the others lose; each keeps a guaranteed part
};

// Compares with the link as it would be shared. A job that would go slower than `kLoserPermille` of that
// loses; rotation must win `kWorthPermille` in the mean to be worth it.
[[nodiscard]] Discipline chooseDiscipline(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond);

inline constexpr int kLoserPermille = 950;
inline constexpr int kWorthPermille = 1'030;

}  // namespace trainyard::core
