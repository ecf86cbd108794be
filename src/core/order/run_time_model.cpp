#include "core/order/run_time_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/order/remaining_time.h"
#include "core/order/run_times.h"

namespace trainyard::core {
namespace {

// On each side in order of submission, as in a replay.
constexpr int kNeighbours = 20;
constexpr std::size_t kEnoughToKnow = 3;
constexpr std::chrono::minutes kTogether{10};

double secondsBetween(base::WallTime a, base::WallTime b) {
  return std::abs(std::chrono::duration<double>(a - b).count());
}

}  // namespace

std::int64_t RunTimeModel::gpusOf(const model::Job& job) {
  live_.follow(snapshot_.jobs);
  return live_.factsOf(job).gpus;
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
  live_.follow(snapshot_.jobs);
  const auto kinds = live_.factsOf(job).kinds;
  const Past* past = pastOf(job, kinds[0], 0);
  const bool narrow = past != nullptr && past->size() >= kEnoughToKnow;
  if (!narrow) past = pastOf(job, kinds[1], 1);
  const Kind kind = kinds[narrow ? 0 : 1];
  const auto ran = ranSoFar(job, snapshot_.now);
  const auto submitted = std::chrono::floor<std::chrono::minutes>(job.created.time_since_epoch());
  const base::WallTime rounded(submitted - submitted % kTogether);
  if (job.status.gang.placed) return compute(kind, past, rounded, static_cast<double>(ran.count()), job);
  const auto [cached, isNew] =
      waiting_.try_emplace(Together{kind, rounded.time_since_epoch().count(), ran.count()}, 0);
  if (isNew) cached->second = compute(kind, past, rounded, static_cast<double>(ran.count()), job);
  return cached->second;
}

std::optional<std::chrono::seconds> RunTimeModel::remaining(const model::Job& job, int permille) {
  constexpr double kAll = 1'000;
  if (snapshot_.runTimes == nullptr) return std::nullopt;
  live_.follow(snapshot_.jobs);
  const auto kinds = live_.factsOf(job).kinds;
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
  static const std::vector<model::PastRun> kNoPast;
  const auto& ended = past != nullptr ? *past : kNoPast;
  const auto& live = live_.of(kind);
  std::vector<KnownRun> others;
  others.reserve(std::size_t{2} * kNeighbours);
  const auto addEnded = [&](const model::PastRun& run) {
    others.push_back({secondsBetween(run.submitted, submitted), static_cast<double>(run.ran.count()), true});
  };
  const auto addLive = [&](const model::Job* run) {
    if (run == &self) return;
    const auto ran = static_cast<double>(ranSoFar(*run, snapshot_.now).count());
    others.push_back({secondsBetween(run->created, submitted), ran, false});
  };
  // Backwards and forwards in the order of submission, whoever comes next of the two lists.
  const auto firstEnded = std::partition_point(
      ended.begin(), ended.end(), [&](const model::PastRun& each) { return each.submitted < submitted; });
  const auto firstLive = std::partition_point(
      live.begin(), live.end(), [&](const model::Job* each) { return each->created < submitted; });
  auto e = firstEnded;
  auto l = firstLive;
  for (int n = 0; n < kNeighbours && (e != ended.begin() || l != live.begin()); ++n) {
    const bool endedNext =
        l == live.begin() || (e != ended.begin() && std::prev(e)->submitted >= (*std::prev(l))->created);
    if (endedNext)
      addEnded(*--e);
    else
      addLive(*--l);
  }
  e = firstEnded;
  l = firstLive;
  for (int n = 0; n <= kNeighbours && (e != ended.end() || l != live.end()); ++n) {
    const bool endedNext = l == live.end() || (e != ended.end() && e->submitted <= (*l)->created);
    if (endedNext)
      addEnded(*e++);
    else
      addLive(*l++);
  }
  return others;
}

double RunTimeModel::compute(Kind kind, const Past* past, base::WallTime submitted, double ran,
                             const model::Job& self) const {
  return gittinsIndex(others(kind, past, submitted, self), ran);
}

}  // namespace trainyard::core
