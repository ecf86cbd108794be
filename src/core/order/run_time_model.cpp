#include "core/order/run_time_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/order/remaining_time.h"
#include "core/order/run_times.h"

namespace trainyard::core {
namespace {

// The number of neighbours on each side, in order of submission, as in a replay.
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

// `which` is the index of `kind` among the job's kinds.
const RunTimeModel::Past* RunTimeModel::pastOf(const model::Job& job, Kind kind, std::size_t which) {
  if (snapshot_.runTimes == nullptr) return nullptr;
  const auto [known, isNew] = past_.try_emplace(kind, nullptr);
  if (isNew) {
    const auto found = snapshot_.runTimes->kinds.find(kindsOf(job)[which]);
    if (found != snapshot_.runTimes->kinds.end()) known->second = &found->second;
  }
  return known->second;
}

RunTimeModel::Question RunTimeModel::questionOf(const model::Job& job) {
  live_.follow(snapshot_.jobs);
  const auto kinds = live_.factsOf(job).kinds;
  const auto submitted = std::chrono::floor<std::chrono::minutes>(job.created.time_since_epoch());
  return {{kinds[0], kinds[1]},
          base::WallTime(submitted - submitted % kTogether),
          ranSoFar(job, snapshot_.now).count()};
}

std::pair<RunTimeModel::Kind, const RunTimeModel::Past*> RunTimeModel::selectKind(const Question& question,
                                                                                  const model::Job& job) {
  const Past* narrow = pastOf(job, question.kinds[0], 0);
  if (narrow != nullptr && narrow->size() >= kEnoughToKnow) return {question.kinds[0], narrow};
  return {question.kinds[1], pastOf(job, question.kinds[1], 1)};
}

double RunTimeModel::rate(const Question& question, const model::Job& job) {
  live_.follow(snapshot_.jobs);
  const auto [kind, past] = selectKind(question, job);
  if (job.status.gang.placed)
    return gittinsIndex(others(kind, past, question.submitted, job), static_cast<double>(question.ran));
  const auto [cached, isNew] =
      waiting_.try_emplace(Together{kind, question.submitted.time_since_epoch().count(), question.ran}, 0);
  if (isNew)
    cached->second =
        gittinsIndex(others(kind, past, question.submitted, job), static_cast<double>(question.ran));
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

const std::vector<KnownRun>& RunTimeModel::others(Kind kind, const Past* past, base::WallTime submitted,
                                                  const model::Job& self) {
  static const std::vector<model::PastRun> kNoPast;
  const auto& ended = past != nullptr ? *past : kNoPast;
  const auto& live = live_.of(kind);
  others_.clear();
  const auto addEnded = [&](const model::PastRun& run) {
    others_.push_back({secondsBetween(run.submitted, submitted), static_cast<double>(run.ran.count()), true});
  };
  const auto addLive = [&](const LiveRuns::Run& run) {
    if (run.job == &self) return;
    const auto ran = static_cast<double>(run.ran.at(snapshot_.now).count());
    others_.push_back({secondsBetween(run.submitted, submitted), ran, false});
  };
  // Merges the two lists by submission, outwards from the job: first backwards, then forwards.
  const auto firstEnded = std::partition_point(
      ended.begin(), ended.end(), [&](const model::PastRun& each) { return each.submitted < submitted; });
  const auto firstLive = std::partition_point(
      live.begin(), live.end(), [&](const LiveRuns::Run& each) { return each.submitted < submitted; });
  auto e = firstEnded;
  auto l = firstLive;
  for (int n = 0; n < kNeighbours && (e != ended.begin() || l != live.begin()); ++n) {
    const bool endedNext =
        l == live.begin() || (e != ended.begin() && std::prev(e)->submitted >= std::prev(l)->submitted);
    if (endedNext)
      addEnded(*--e);
    else
      addLive(*--l);
  }
  e = firstEnded;
  l = firstLive;
  for (int n = 0; n <= kNeighbours && (e != ended.end() || l != live.end()); ++n) {
    const bool endedNext = l == live.end() || (e != ended.end() && e->submitted <= l->submitted);
    if (endedNext)
      addEnded(*e++);
    else
      addLive(*l++);
  }
  return others_;
}

}  // namespace trainyard::core
