#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/network/shared_link.h"

namespace trainyard::core {

// Assigns the traffic of each job to a band of a node's uplink; band 0 goes first. After TensorLights (HPBDC
// 2019), with a different order.
//
// Assumes: a job's servers on a node send in bursts; a link serves its bands strictly in order; clocks of
// nodes agree to a few seconds, so that a job with servers on several nodes has the same place on each of
// them.
//
// 1. A job that names a band gets it and takes no part in the further steps.
// 2. kOne: by age, permanently. kRoundRobin: by age, shifted by one place every `turn` of the calendar.
//    kBursts: the shortest burst first, for measured bursts; jobs without a measurement follow, by expected
//    end, then by age. The last order changes only for a burst that is shorter by a fifth, since measurements
//    vary.
// 3. n jobs share the bands in blocks of ceil(n / 7).
// 4. kBursts, once all bursts are known: the fluid model (shared_link.h) decides whether the order pays.
//    Strict if no job loses; rotated if that is better for all; else strict. Under kBursts each job has a
//    quarter of its fair share guaranteed in every case.
//
// Ties: burst, then expected end (known before unknown), then age, then uid.
enum class BandPolicy { kOne, kRoundRobin, kBursts };

inline constexpr int kBands = 7;
inline constexpr std::chrono::seconds kTurn{20};

struct RankedJob {
  std::string uid;
  base::WallTime since{};  // creation time of the job
  std::optional<int> fixedBand = std::nullopt;
  std::optional<base::WallTime> expectedEnd = std::nullopt;
  std::optional<BurstProfile> burst = std::nullopt;
  friend bool operator==(const RankedJob&, const RankedJob&) = default;
};

struct JobBand {
  std::string uid;
  int band = 0;
  friend bool operator==(const JobBand&, const JobBand&) = default;
};

struct BandPlan {
  std::vector<JobBand> bands;  // in the order of service; sorted by band
  // kBursts: the order before any shift, to be passed to the next call.
  std::vector<std::string> order;
  Discipline discipline = Discipline::kStrict;
  // The guaranteed part of a job's fair share of the link.
  int guaranteedPermille = 0;
  friend bool operator==(const BandPlan&, const BandPlan&) = default;
};

struct BandQuestion {
  BandPolicy policy = BandPolicy::kBursts;
  std::vector<RankedJob> jobs = {};
  std::int64_t bytesPerSecond = 0;
  base::WallTime now{};
  std::chrono::seconds turn = kTurn;
  std::vector<std::string> lastOrder = {};  // BandPlan::order of the last call
  friend bool operator==(const BandQuestion&, const BandQuestion&) = default;
};

[[nodiscard]] BandPlan planBands(const BandQuestion& question);

}  // namespace trainyard::core
