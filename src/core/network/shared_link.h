#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace trainyard::core {

// The traffic of a synchronous job's parameter servers through one link: a burst, then a gap while the
// workers compute and answer, repeated.
struct BurstProfile {
  std::int64_t bytes = 0;            // of one burst
  std::chrono::microseconds gap{0};  // from its end to the start of the next one
  friend bool operator==(const BurstProfile&, const BurstProfile&) = default;
};

// Shared: all senders have equal parts, as TCP gives them. Strict: the first sender in the order has all of
// the link. Rotated: strict, with every job in each place of the order for an equal time.
enum class LinkOrder { kShared, kStrict, kRotated };

// Returns the speed of each job on the shared link, in permille of its speed alone on it; `jobs` are in their
// order.
//
// A fluid model: bursts drain at their part of the link, events are the ends of bursts and gaps. Assumes that
// the link is the bottleneck of the jobs. Gaps vary by up to a tenth, by a fixed sequence: without that, a
// job would meet its gap in another's traffic always or never, while in reality it misses it sometimes. The
// work is bounded: at most 6,000 events for each order tried. (Rejected: a formula. No formula covers a job
// that just misses its gap.)
[[nodiscard]] std::vector<int> linkSpeeds(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond,
                                          LinkOrder order);

// The discipline for an order of jobs.
enum class Discipline {
  kStrict,      // in the given order: no job loses
  kRotate,      // the order in rotation: strict, some job would lose; rotated, none does, and speed is gained
  kGuaranteed,  // the link is full: the first gains what others lose; each keeps a guaranteed part
};

// Compares with the link in shared use. A job that is slower than `kLoserPermille` of its shared speed loses;
// a rotation must gain `kWorthPermille` in the mean to be worthwhile.
[[nodiscard]] Discipline chooseDiscipline(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond);

inline constexpr int kLoserPermille = 950;
inline constexpr int kWorthPermille = 1'030;

}  // namespace trainyard::core
