#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/policy.h"

namespace trainyard::core {

// Everything that an ordering may depend on. A job's length is included only if its owner states it: without
// `remaining`, an ordering works without it.
struct OrderView {
  const model::ObjectKey* key = nullptr;  // the last tie-breaker
  int priority = 0;
  base::WallTime submitted{};
  std::int64_t gpus = 0;
  std::chrono::microseconds ran{0};  // total so far, across all interruptions
  // By the owner's estimate: 0 once the job exceeds it.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  // Chance that it ends per second of running, learnt from others (RunTimeModel::rate).
  std::optional<double> gittinsIndex = std::nullopt;
  // It cannot be preempted and has no deadline: no rule enforces its expected end.
  bool isUnbounded = false;
  bool running = false;
  // For a running job: the cost of preempting it (core/order/preemption_cost.h).
  std::chrono::microseconds preemptionCost{0};
};

// A job of unknown length is expected to need as much time again as it has run. A job younger than this
// counts as if it had run this long.
inline constexpr std::chrono::seconds kYoung{3'600};

struct OrderSettings {
  model::Ordering ordering = model::Ordering::kFifo;
  // kLas: GPU seconds of service at which a job moves to the next queue, ascending. 1, 10, 100 and 1,000 GPU
  // hours: run times spread over orders of magnitude. (Tiresias' own two limits, as in Muri's simulator, are
  // 3,250 and 7,200 s.)
  std::vector<std::int64_t> lasLimits{3'600, 36'000, 360'000, 3'600'000};
};

// The position of a job in its queue; smaller is served first.
struct QueuePosition {
  int priority = 0;
  // The expected remaining work, in the ordering's own measure: less is served first.
  double expected = 0;
  double preemptionCost = 0;  // for a running job, in the same measure
  bool learnt = false;        // expected work is learnt from other jobs or guessed, not stated by the owner
  bool running = false;
  base::WallTime submitted{};
  const model::ObjectKey* key = nullptr;

  [[nodiscard]] bool before(const QueuePosition& other) const;
};

// Assumes: GPUs are the scarce resource, and users feel the mean time from submission to end.
//
// Jobs are served by priority, under every ordering; then by expected work, the least first; running jobs
// before pending ones, because they cost no preemption; then by submission, namespace and name. Orderings by
// stated or learnt run times serve an unbounded job last. Each ordering defines expected work in its own file
// (core/order/orderings/).
[[nodiscard]] QueuePosition queuePositionOf(const OrderView& job, const OrderSettings& settings);

// Returns true if it is worth preempting `running` for `waiting`, of the same priority: `waiting` is expected
// to take less even with the cost of the stop. (For two jobs on the same GPUs, the shorter one first gives a
// smaller sum of end times: the exchange argument of Smith, 1956, with a set-up time for the job that
// continues later.) Learnt values are accurate only to a factor of three, so two of them must differ by more.
// (Rejected: no factor; `trainyard replay` of Muri's traces ended 4% and 6% later, with two to four times the
// stops.) Never between equals, and never under kFifo.
[[nodiscard]] bool worthPreempting(const QueuePosition& waiting, const QueuePosition& running);

}  // namespace trainyard::core
