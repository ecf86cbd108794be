#include "core/order/run_history.h"

#include <algorithm>
#include <cmath>

#include "core/order/gittins_index.h"

namespace trainyard::core {
namespace {

// Jobs on each side in order of submission: a sweep is seldom larger, and the cost of a rate stays bounded.
constexpr std::uint32_t kNeighbours = 20;
// A rate is taken anew when what it rests on has grown by that.
constexpr double kGrowth = 1.05;
constexpr double kGrowthAtFirst = 30;

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
  std::vector<KnownRun> others;
  others.reserve(end - first);
  for (std::size_t i = first; i < end; ++i) {
    if (i == job.position) continue;
    others.push_back({std::abs(runs[i].submitted - self.submitted), runs[i].ran, runs[i].ended});
  }
  self.rate = gittinsIndex(others, self.ran);
  self.fresh = true;
  return self.rate;
}

std::pair<std::size_t, std::size_t> RunHistory::around(const std::vector<Run>& runs, std::uint32_t position) {
  const std::size_t first = position > kNeighbours ? position - kNeighbours : 0;
  return {first, std::min<std::size_t>(runs.size(), position + kNeighbours + 1)};
}

}  // namespace trainyard::core
