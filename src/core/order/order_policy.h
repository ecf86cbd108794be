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
  // Chance that it ends per second of running, learnt from others (RunHistory::rate).
  std::optional<double> gittinsIndex = std::nullopt;
  bool running = false;
};

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
  double merit = 0;  // higher is better; by the ordering
  bool running = false;
  base::WallTime submitted{};
  const model::ObjectKey* key = nullptr;

  [[nodiscard]] bool before(const Rank& other) const;
};

// Assumes: GPUs are what is scarce, and a job's mean time from submission to end is what people feel.
//
// Higher priority is served first, whatever the ordering; then higher merit; then those that run, which costs
// nothing; then the earlier submitted; then by namespace and name. Merit:
//  kFifo     none.
//  kLas      fewer GPU seconds of service so far, in steps (Tiresias' discretised two-dimensional queues).
//  kSrtf     less remaining time.
//  kSrsf     less remaining time x GPUs.
//  kDefault  more expected ends per GPU second: 1 / remaining where there is an estimate, else the chance of
//            ending that others taught, by GPUs (Gittins' index by what is scarce). A running job counts for
//            more, as stopping it costs its start-up and what it has in memory: three times where merit is a
//            guess, a tenth more where it is known.
// Jobs without estimate come last in kSrtf and kSrsf.
[[nodiscard]] Rank rankOf(const OrderView& job, const OrderSettings& settings);

// Indices into `jobs` in the order of service.
[[nodiscard]] std::vector<std::size_t> orderOfService(const std::vector<OrderView>& jobs,
                                                      const OrderSettings& settings);

}  // namespace trainyard::core
