#include "replay/papers/tensorlights_bands.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>

#include <fmt/format.h>

namespace trainyard::replay {

TensorLightsBands::TensorLightsBands(const TensorLightsOptions& options, TensorLightsPolicy policy)
    : options_(options),
      policy_(policy),
      bandOf_(
          static_cast<std::size_t>(std::accumulate(options.placement.begin(), options.placement.end(), 0))) {}

void TensorLightsBands::order(const std::vector<int>& jobs, std::int64_t nanos) {
  core::BandQuestion question{
      .policy = policy_ == TensorLightsPolicy::kOne          ? core::BandPolicy::kOne
                : policy_ == TensorLightsPolicy::kRoundRobin ? core::BandPolicy::kRoundRobin
                                                             : core::BandPolicy::kBursts,
      .bytesPerSecond = options_.bytesPerSecond,
      .now = base::WallTime(std::chrono::microseconds(nanos / 1'000)),
      .turn = std::chrono::seconds(std::max<std::int64_t>(1, options_.turnMicros / 1'000'000))};
  for (const int job : jobs) question.jobs.push_back(ranked(job));
  for (const core::JobBand& each : core::planBands(question).bands)
    bandOf_[static_cast<std::size_t>(std::stoi(each.uid))] = jobs.size() < 2 ? 0 : each.band;
}

core::RankedJob TensorLightsBands::ranked(int job) const {
  const std::int64_t burst = options_.modelBytes * (options_.hosts - 1);
  // A gap consists of the workers' computation and the transfer of their answers.
  const std::int64_t back = burst * 1'000'000 / options_.bytesPerSecond;
  return {.uid = fmt::format("{:06}", job),
          .since = base::WallTime(std::chrono::seconds(job)),
          .burst = core::BurstProfile{burst, std::chrono::microseconds(options_.computeMicros + back)}};
}

int TensorLightsBands::lastBand(int host) const {
  const bool ordered = orders() && host < static_cast<int>(options_.placement.size()) &&
                       options_.placement[static_cast<std::size_t>(host)] > 1;
  return ordered ? core::kBands - 1 : 0;
}

}  // namespace trainyard::replay
