#include "core/run_history.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::core {
namespace {

// Jobs on each side in order of submission: a sweep is seldom larger, and the cost of a rate stays bounded.
constexpr std::uint32_t kNeighbours = 20;
// Submitted that far apart, a neighbour counts half; a far one still counts a little, so that the kind as a
// whole is known where no neighbour is near.
constexpr double kNear = 7'200;
constexpr double kFloor = 0.02;
// The unseen jobs: together they weigh a tenth of a neighbour, and end after these multiples of what the job
// has run, or of an hour when it is young.
constexpr double kUnseenWeight = 0.1;
constexpr double kYoung = 3'600;
// A rate is taken anew when what it rests on has grown by that.
constexpr double kGrowth = 1.05;
constexpr double kGrowthAtFirst = 30;
constexpr std::array<double, 6> kUnseenMultiples{0.1, 0.3, 1, 3, 10, 30};

struct Sample {
  double at = 0;  // s of running
  double weight = 0;
  bool ended = false;
};

double bestRate(std::vector<Sample>& samples, double ran) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.at < b.at; });
  double atRisk = 0;
  for (const Sample& sample : samples) atRisk += sample.weight;
  double survives = 1;
  double expected = 0;  // seconds invested until the horizon or the end, whichever comes first
  double last = ran;
  double best = 0;
  for (const Sample& sample : samples) {
    expected += survives * (sample.at - last);
    last = sample.at;
    if (sample.ended) {
      survives *= 1 - sample.weight / atRisk;
      // Of two neighbours that ended alike one is always at a positive distance: `at` exceeds `ran`.
      best = std::max(best, (1 - survives) / expected);
    }
    atRisk -= sample.weight;
    if (atRisk <= 0) break;
  }
  return best;
}

}  // namespace

RunHistory::Id RunHistory::submit(const std::string& kind, Seconds submitted) {
  const auto [known, isNew] = kindOf_.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
  if (isNew) kinds_.emplace_back();
  auto& runs = kinds_[known->second];
  runs.push_back({.submitted = submitted.count()});
  return {known->second, static_cast<std::uint32_t>(runs.size() - 1)};
}

void RunHistory::ran(Id job, Seconds ran) {
  Run& run = kinds_[job.kind][job.position];
  run.ran = ran.count();
  if (run.ran > run.toldAt * kGrowth + kGrowthAtFirst) tell(job);
}

void RunHistory::ended(Id job, Seconds ran) {
  Run& run = kinds_[job.kind][job.position];
  run.ran = ran.count();
  run.ended = true;
  tell(job);
}

void RunHistory::tell(Id job) {
  auto& runs = kinds_[job.kind];
  runs[job.position].toldAt = runs[job.position].ran;
  const auto [first, end] = around(runs, job.position);
  for (std::size_t i = first; i < end; ++i) runs[i].fresh = false;
}

double RunHistory::rate(Id job) {
  auto& runs = kinds_[job.kind];
  Run& self = runs[job.position];
  if (self.fresh) return self.rate;
  const auto [first, end] = around(runs, job.position);
  std::vector<Sample> samples;
  samples.reserve(2 * std::size_t{kNeighbours} + kUnseenMultiples.size());
  for (std::size_t i = first; i < end; ++i) {
    const Run& run = runs[i];
    if (i == job.position || run.ran <= self.ran) continue;
    const double gap = std::abs(run.submitted - self.submitted);
    samples.push_back({run.ran, 1 / (1 + gap / kNear) + kFloor, run.ended});
  }
  const double scale = std::max(self.ran, kYoung);
  for (const double multiple : kUnseenMultiples) {
    samples.push_back({self.ran + scale * multiple, kUnseenWeight / kUnseenMultiples.size(), true});
  }
  self.rate = bestRate(samples, self.ran);
  self.fresh = true;
  return self.rate;
}

std::pair<std::size_t, std::size_t> RunHistory::around(const std::vector<Run>& runs, std::uint32_t position) {
  const std::size_t first = position > kNeighbours ? position - kNeighbours : 0;
  return {first, std::min<std::size_t>(runs.size(), position + kNeighbours + 1)};
}

}  // namespace trainyard::core
