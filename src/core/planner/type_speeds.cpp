#include "core/planner/type_speeds.h"

#include <algorithm>
#include <cstdint>

namespace trainyard::core {

std::map<std::string, std::int64_t> typeSpeeds(const model::ModelProfile& profile) {
  constexpr double kMilliPerNano = 1e12;
  // The maximum that a job may declare: code that compares types multiplies speeds.
  constexpr double kMaxMilli = 1e15;
  std::map<std::string, std::int64_t> speeds;
  for (const model::MeasuredStep& each : profile.measurements) {
    const bool alone = each.workers.size() == 1 && each.workers.front() == 1;
    if (!alone || each.gpuType.empty() || each.stepNanos <= 0) continue;
    const double milli =
        static_cast<double>(each.batchPerWorker) * kMilliPerNano / static_cast<double>(each.stepNanos);
    std::int64_t& speed = speeds[each.gpuType];
    speed = std::max(speed, static_cast<std::int64_t>(std::min(milli, kMaxMilli)));
  }
  for (const model::TypeSpeed& each : profile.speeds) speeds[each.type] = each.milliSamplesPerSecond;
  std::erase_if(speeds, [](const auto& each) { return each.second <= 0; });
  if (speeds.size() < 2) speeds.clear();
  return speeds;
}

}  // namespace trainyard::core
