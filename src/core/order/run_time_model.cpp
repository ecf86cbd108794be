#include "core/order/run_time_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/order/remaining_time.h"
#include "core/order/run_times.h"

namespace trainyard::core {
namespace {

// On each side in order of submission, as in a replay.
constexpr std::ptrdiff_t kNeighbours = 20;
constexpr std::size_t kEnoughToKnow = 3;
constexpr std::chrono::minutes kTogether{10};

double secondsBetween(base::WallTime a, base::WallTime b) {
  return std::abs(std::chrono::duration<double>(a - b).count());
}

// The elements around `submitted`, of a list in order of submission.
template <typename List>
auto around(const List& list, base::WallTime submitted) {
  const auto at = std::partition_point(list.begin(), list.end(),
                                       [&](const auto& each) { return each.submitted < submitted; });
  const auto first = at - std::min(kNeighbours, at - list.begin());
  const auto end = at + std::min(kNeighbours + 1, list.end() - at);
  return std::pair(first, end);
}

}  // namespace

void RunTimeModel::listRunning() {
  if (listed_) return;
  listed_ = true;
  for (const auto& job : snapshot_.jobs) {
    if (job->finished() || !job->status.gang.placed || job->status.gpus <= 0) continue;
    for (const Kind kind : kindNumbersOf(*job))
      running_[kind].push_back({job->created, ranSoFar(*job, snapshot_.now), job.get()});
  }
  for (auto& [kind, running] : running_) {
    std::stable_sort(running.begin(), running.end(),
                     [](const Running& a, const Running& b) { return a.submitted < b.submitted; });
  }
}

// `which` of the job's kinds.
const RunTimeModel::Past* RunTimeModel::pastOf(const model::Job& job, Kind kind, std::size_t which) {
  if (snapshot_.runTimes == nullptr) return nullptr;
  const auto [known, isNew] = past_.try_emplace(kind, nullptr);
  if (isNew) {
    const auto found = snapshot_.runTimes->kinds.find(kindsOf(job)[which]);
    if (found != snapshot_.runTimes->kinds.end()) known->second = &found->second;
  }
  return known->second;
}

double RunTimeModel::rate(const model::Job& job) {
  listRunning();
  const auto kinds = kindNumbersOf(job);
  const Past* past = pastOf(job, kinds[0], 0);
  const bool narrow = past != nullptr && past->size() >= kEnoughToKnow;
  if (!narrow) past = pastOf(job, kinds[1], 1);
  const Kind kind = kinds[narrow ? 0 : 1];
  const auto ran = ranSoFar(job, snapshot_.now);
  const auto submitted = std::chrono::floor<std::chrono::minutes>(job.created.time_since_epoch());
  const base::WallTime rounded(submitted - submitted % kTogether);
  if (job.status.gang.placed) return compute(kind, past, rounded, static_cast<double>(ran.count()), job);
  const auto [cached, isNew] =
      waiting_.try_emplace({kind, rounded.time_since_epoch().count(), ran.count()}, 0);
  if (isNew) cached->second = compute(kind, past, rounded, static_cast<double>(ran.count()), job);
  return cached->second;
}

std::optional<std::chrono::seconds> RunTimeModel::remaining(const model::Job& job, int permille) {
  constexpr double kAll = 1'000;
  if (snapshot_.runTimes == nullptr) return std::nullopt;
  listRunning();
  const auto kinds = kindNumbersOf(job);
  const auto ran = static_cast<double>(progressOf(job, snapshot_.now).count());
  for (std::size_t which = 0; which < kinds.size(); ++which) {
    const Past* past = pastOf(job, kinds[which], which);
    if (past == nullptr) continue;
    const auto left = remainingTime(others(kinds[which], past, job.created, job), ran, permille / kAll);
    if (left) return std::chrono::seconds(static_cast<std::int64_t>(std::ceil(*left)));
  }
  return std::nullopt;
}

std::vector<KnownRun> RunTimeModel::others(Kind kind, const Past* past, base::WallTime submitted,
                                           const model::Job& self) const {
  std::vector<KnownRun> others;
  if (past != nullptr) {
    const auto [first, end] = around(*past, submitted);
    for (auto run = first; run != end; ++run) {
      const double apart = secondsBetween(run->submitted, submitted);
      others.push_back({apart, static_cast<double>(run->ran.count()), true});
    }
  }
  if (const auto running = running_.find(kind); running != running_.end()) {
    const auto [first, end] = around(running->second, submitted);
    for (auto run = first; run != end; ++run) {
      if (run->job == &self) continue;
      const double apart = secondsBetween(run->submitted, submitted);
      others.push_back({apart, static_cast<double>(run->ran.count()), false});
    }
  }
  return others;
}

double RunTimeModel::compute(Kind kind, const Past* past, base::WallTime submitted, double ran,
                             const model::Job& self) const {
  return gittinsIndex(others(kind, past, submitted, self), ran);
}

}  // namespace trainyard::core
