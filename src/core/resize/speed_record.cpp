#include "core/resize/speed_record.h"

#include <algorithm>
#include <cstdint>

namespace trainyard::core {
namespace {

constexpr std::int64_t kSmoothing = 4;

}  // namespace

void noteSpeed(const model::Progress& report, int most, std::vector<model::SpeedPoint>& speeds) {
  const std::int64_t speed = report.milliSamplesPerSecond.value_or(0);
  if (speed <= 0 || report.replicas <= 0 || report.replicas > most) return;
  model::SpeedPoint point{report.replicas, speed};
  const auto known = std::find_if(speeds.begin(), speeds.end(),
                                  [&](const auto& each) { return each.replicas == report.replicas; });
  if (known != speeds.end()) {
    const std::int64_t before = known->milliSamplesPerSecond;
    if (before > 0) point.milliSamplesPerSecond = before + (speed - before) / kSmoothing;
    speeds.erase(known);
  }
  speeds.insert(speeds.begin(), point);
  if (speeds.size() > kMostSpeeds) speeds.resize(kMostSpeeds);
}

}  // namespace trainyard::core
