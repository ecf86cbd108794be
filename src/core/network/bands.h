#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/network/shared_link.h"

namespace trainyard::core {

// Which band of a node's uplink the traffic of each job has; band 0 goes first. After TensorLights
// (HPBDC 2019), with an order of our own.
//
// Assumes: a job's servers on a node send in bursts; bands of a link are served strictly in turn; clocks of
// nodes agree to a few seconds, so that a job with servers on several nodes has the same place on all of
// them.
//
// 1. Jobs that name a band have it; they take no part in what follows.
// 2. kOne: by age, for good. kRoundRobin: the same, shifted by one place every `turn` of the calendar.
//    kBursts: the shortest burst first, as far as bursts have been measured; those that have not come after,
//    by expected end, then by age. An order that stood is changed only for a burst shorter by a fifth, as
//    measurements waver.
// 3. n jobs share the bands in blocks of ceil(n / 7).
// 4. kBursts, once all bursts are known: whether the order pays is asked of the fluid model
//    (shared_link.h). Strict where nobody loses; by turns where that is better for all; else strict.
//    Under kBursts everybody has a quarter of his fair share for certain, whichever it is.
//
// Ties: burst, then expected end (known before unknown), then age, then uid.
enum class BandPolicy { kOne, kRoundRobin, kBursts };

inline constexpr int kBands = 7;
inline constexpr std::chrono::seconds kTurn{20};

struct RankedJob {
  std::string uid;
  base::WallTime since{};  // when the job was made
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
  // kBursts: the order before any turn, to be handed in next time.
  std::vector<std::string> order;
  Discipline discipline = Discipline::kStrict;
  // Of its fair share of the link a job has so much for certain.
  int guaranteedPermille = 0;
  friend bool operator==(const BandPlan&, const BandPlan&) = default;
};

struct BandQuestion {
  BandPolicy policy = BandPolicy::kBursts;
  std::vector<RankedJob> jobs = {};
  std::int64_t bytesPerSecond = 0;
  base::WallTime now{};
  std::chrono::seconds turn = kTurn;
  std::vector<std::string> lastOrder = {};  // BandPlan::order of the last answer
  friend bool operator==(const BandQuestion&, const BandQuestion&) = default;
};

[[nodiscard]] BandPlan planBands(const BandQuestion& question);

}  // namespace trainyard::core
