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

// All that the order of service may depend on. How long a job will run is no part of it, unless its owner
// said so: without `remaining`, an ordering cannot but do without.
struct OrderView {
  const model::ObjectKey* key = nullptr;  // the last tie
  int priority = 0;
  base::WallTime submitted{};
  std::int64_t gpus = 0;
  std::chrono::microseconds ran{0};  // in all so far, however often it was interrupted
  // By its owner's estimate: 0 once it has run longer.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  // Chance that it ends per second of running, learnt from others (RunTimeModel::rate).
  std::optional<double> gittinsIndex = std::nullopt;
  // It cannot be preempted, and has no deadline: nothing holds it to what is expected of it.
  bool isUnbounded = false;
  bool running = false;
  // Of one that runs: what a stop costs it (core/order/stop_cost.h).
  std::chrono::microseconds stopCost{0};
};

// A job of unknown length is taken to end about as late again as it is old; younger than this, as if it were
// so old.
inline constexpr std::chrono::seconds kYoung{3'600};

struct OrderSettings {
  model::Ordering ordering = model::Ordering::kFifo;
  // kLas: GPU seconds of service at which a job moves to the next queue, ascending. 1, 10, 100 and 1,000 GPU
  // hours: run times spread over orders of magnitude. (Tiresias' own two limits, as in Muri's simulator, are
  // 3,250 and 7,200 s.)
  std::vector<std::int64_t> lasLimits{3'600, 36'000, 360'000, 3'600'000};
};

// Where a job stands; smaller is served first.
struct Rank {
  int priority = 0;
  // What is expected to be left of it, in the ordering's own measure: less is served first.
  double expected = 0;
  double stopCost = 0;  // of one that runs, in the same measure
  bool learnt = false;  // nobody stated it: others taught what to expect, or it is a guess
  bool running = false;
  base::WallTime submitted{};
  const model::ObjectKey* key = nullptr;

  [[nodiscard]] bool before(const Rank& other) const;
};

// Assumes: GPUs are what is scarce, and a job's mean time from submission to end is what people feel.
//
// Jobs are served by priority, whatever the ordering; then by expected work, the least first; running jobs
// before pending ones, as they cost nothing; then by submission, namespace and name. Orderings that go by
// stated or learnt run times serve an unbounded job last. Each ordering defines expected work in its own file
// (core/order/orderings/).
[[nodiscard]] Rank rankOf(const OrderView& job, const OrderSettings& settings);

// Whether it pays to stop `running` for `waiting`, of the same priority: when this is expected to take less
// even with all that the stop costs. (Of two jobs on the same GPUs the sum of the times to their ends is less
// by that much if the shorter one goes first: the exchange argument of Smith, 1956, with a set-up time for
// whoever goes on later.) What was learnt is known to a factor of three only: less than that apart, two such
// expectations are not told apart (`trainyard replay` of Muri's traces without it: 4% and 6% later, with two
// to four times the stops). Never among equals, and never by kFifo.
[[nodiscard]] bool worthAStop(const Rank& waiting, const Rank& running);

}  // namespace trainyard::core
