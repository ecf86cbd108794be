#include "core/resize/speed_record.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "core/resize/speed_curve.h"

namespace trainyard::core {
namespace {

constexpr std::int64_t kSmoothing = 4;
constexpr std::int64_t kLongestPause = 86'400'000;

const std::string* pauseIn(const model::Progress& report) {
  const auto at = std::find_if(report.metrics.begin(), report.metrics.end(),
                               [](const auto& each) { return each.first == kPauseFigure; });
  return at == report.metrics.end() ? nullptr : &at->second;
}

// Members per node: the number on the fullest of the job's nodes.
MemberShape shapeOf(const model::Job& job, const model::Role& role) {
  MemberShape shape{static_cast<int>(role.shape.requests.gpus()), 1};
  std::map<model::NodeName, int> members;
  for (const model::Assignment& each : job.status.gang.placed->assignments) {
    if (each.role != role.name) continue;
    int& here = members[each.node];
    here += static_cast<int>(each.indices.size());
    shape.membersPerNode = std::max(shape.membersPerNode, here);
  }
  return shape;
}

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
  if (speeds.size() > kMaxSpeeds) speeds.resize(kMaxSpeeds);
}

void notePause(const model::Progress* last, const model::Progress& report,
               std::vector<std::int64_t>& lastPauseMillis) {
  const std::string* pauseText = pauseIn(report);
  if (pauseText == nullptr || last == nullptr || last->replicas <= 0 || report.replicas == last->replicas)
    return;
  const std::string* before = pauseIn(*last);
  if (before != nullptr && *before == *pauseText) return;
  double millis = 0;
  const auto [end, error] = std::from_chars(pauseText->data(), pauseText->data() + pauseText->size(), millis);
  if (error != std::errc() || millis < 0 || millis > static_cast<double>(kLongestPause)) return;
  lastPauseMillis.insert(lastPauseMillis.begin(), static_cast<std::int64_t>(millis));
  if (lastPauseMillis.size() > kMaxPauses) lastPauseMillis.resize(kMaxPauses);
}

std::optional<double> expectedSpeed(const model::Job& job, int members,
                                    const std::vector<model::ShapeCost>& costs) {
  if (!job.spec.elastic || !job.status.gang.placed) return std::nullopt;
  const model::Role* role = job.spec.findRole(job.spec.elastic->role);
  const std::vector<model::SpeedPoint>& measured = job.status.resize.speeds;
  const std::vector<model::SpeedPoint>& known = measured.empty() ? job.spec.elastic->speeds : measured;
  if (role == nullptr || known.empty()) return std::nullopt;
  const SpeedCurve curve(measured, job.spec.elastic->speeds, shapeOf(job, *role), costs);
  const model::SpeedPoint& from = known.front();
  return static_cast<double>(from.milliSamplesPerSecond) * curve.speedUp(members) /
         curve.speedUp(from.replicas);
}

}  // namespace trainyard::core
