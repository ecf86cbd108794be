#include "cli/progress_text.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/table.h"

namespace trainyard::cli {
namespace {

using model::Progress;

// A rank that exceeds the median step by less than this factor is the slowest, but no straggler.
constexpr int kStragglesFrom = 1'100;

std::string stepsText(const Progress& progress) {
  if (!progress.totalSteps) return fmt::format("step {}", progress.step);
  const double share = 100.0 * static_cast<double>(progress.step) / static_cast<double>(*progress.totalSteps);
  return fmt::format("step {} of {} ({:.1f}%)", progress.step, *progress.totalSteps, std::min(share, 100.0));
}

// Counts from the time of the report. An older report is less accurate, so its age is printed as well.
std::string timeLeft(const Progress& progress, base::WallTime now) {
  const base::WallTime end = progress.at + std::chrono::seconds(*progress.remainingSeconds);
  return end <= now ? "about to end" : fmt::format("about {} left", formatAge(now, end));
}

// Lists the speeds by size, the smallest first.
std::string speedsText(std::vector<model::SpeedPoint> speeds) {
  if (speeds.empty()) return {};
  std::sort(speeds.begin(), speeds.end(),
            [](const auto& a, const auto& b) { return a.replicas < b.replicas; });
  std::string text;
  for (const model::SpeedPoint& each : speeds)
    text += fmt::format("{}{:.1f} with {}", text.empty() ? "" : ", ",
                        static_cast<double>(each.milliSamplesPerSecond) / 1000, each.replicas);
  return fmt::format("  Samples/s by size: {}\n", text);
}

}  // namespace

std::string progressText(const model::Job& job, base::WallTime now) {
  if (!job.status.progress) return {};
  const Progress& progress = *job.status.progress;
  const bool runs = job.status.gang.placed && !job.finished();
  std::string text = "  Progress: " + stepsText(progress);
  if (progress.milliSamplesPerSecond)
    text += fmt::format(", {:.1f} samples/s", static_cast<double>(*progress.milliSamplesPerSecond) / 1000);
  if (runs && progress.remainingSeconds) text += ", " + timeLeft(progress, now);
  text += fmt::format("; reported {} ago\n", formatAge(progress.at, now));
  if (progress.lastCheckpoint)
    text += fmt::format("  Last checkpoint: {} ago\n", formatAge(*progress.lastCheckpoint, now));
  if (progress.slowestRank >= 0 && progress.slowdownPermille >= kStragglesFrom)
    text += fmt::format("  Straggler: rank {}, {:.2f} times the median step\n", progress.slowestRank,
                        static_cast<double>(progress.slowdownPermille) / 1000);
  text += speedsText(job.status.resize.speeds);
  std::string figures;
  for (const auto& [name, value] : progress.metrics)
    figures += fmt::format("{}{} {}", figures.empty() ? "" : ", ", name, value);
  if (!figures.empty()) text += fmt::format("  Figures: {}\n", figures);
  return text;
}

}  // namespace trainyard::cli
