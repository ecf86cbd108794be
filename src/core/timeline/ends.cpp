#include "core/timeline/ends.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/order/order_policy.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;
using std::chrono::seconds;

constexpr int kHalf = 500;
constexpr int kNineOfTen = 900;

bool before(const Ending& a, const Ending& b) {
  return std::tie(a.at, a.job->key) < std::tie(b.at, b.job->key);
}

base::WallTime overrunEnd(base::WallTime end, base::WallTime now) {
  return now + std::max<base::WallTime::duration>(now - end, kMinOverrun);
}

using Duration = base::WallTime::duration;

struct RunSoFar {
  Duration ran{0};
  // What the estimate leaves; negative: by how much the run has exceeded it. Absent: there is no estimate.
  std::optional<Duration> left = std::nullopt;
};

// The run of a gang that holds capacity.
RunSoFar runOfHolder(const RunFacts& facts, base::WallTime now) {
  const seconds progress = facts.progress.at(now);
  RunSoFar run;
  if (facts.placed) run.ran = progress;
  if (!facts.estimate) return run;
  // Exact to the moment if the record has the time of placement: progress counts whole seconds.
  if (facts.placed && !facts.resumed)
    run.left = facts.placedSince.value_or(now) + *facts.estimate - now;
  else
    run.left = std::max(*facts.estimate - progress, seconds(0));
  return run;
}

// The run of a gang that starts now.
RunSoFar runOfStart(const Job& job, base::WallTime now) {
  const RunFacts facts = runFactsOf(job);
  RunSoFar run;
  run.ran = facts.progress.at(now);
  if (facts.estimate) run.left = *facts.estimate - run.ran;
  return run;
}

struct TimeLeft {
  Duration time{0};
  Basis basis = Basis::kGuess;
};

// How long the run still takes. If its estimate was too short, the history of similar jobs is the better
// predictor: the time in which `permille` of them ended.
TimeLeft timeLeft(const Job& job, const RunSoFar& run, int permille, RunTimeModel& runs) {
  if (run.left && *run.left > Duration(0)) return {*run.left, Basis::kStated};
  if (const auto learnt = runs.remaining(job, permille)) return {*learnt, Basis::kLearnt};
  if (run.left) return {std::max<Duration>(-*run.left, kMinOverrun), Basis::kGuess};
  return {std::max<Duration>(run.ran, kYoung), Basis::kGuess};
}

ExpectedRun inSeconds(const TimeLeft& left) {
  return {std::chrono::duration_cast<seconds>(left.time), left.basis};
}

}  // namespace

ExpectedTime expectedEnd(const Job& job, base::WallTime now, RunTimeModel& runs) {
  return expectedEnd(job, runFactsOf(job), now, runs);
}

ExpectedTime expectedEnd(const Job& job, const RunFacts& facts, base::WallTime now, RunTimeModel& runs) {
  if (facts.leaving) return {now + kMinOverrun, Basis::kStated};
  const TimeLeft left = timeLeft(job, runOfHolder(facts, now), kHalf, runs);
  return {now + left.time, left.basis};
}

ExpectedRun expectedRun(const Job& job, base::WallTime now, RunTimeModel& runs) {
  return inSeconds(timeLeft(job, runOfStart(job, now), kHalf, runs));
}

ExpectedRun cautiousRun(const Job& job, base::WallTime now, RunTimeModel& runs) {
  ExpectedRun run = inSeconds(timeLeft(job, runOfStart(job, now), kNineOfTen, runs));
  if (run.basis == Basis::kStated)
    run.time = std::max(run.time, runs.remaining(job, kNineOfTen).value_or(seconds(0)));
  return run;
}

const std::vector<Ending>& Ends::all() {
  if (listed_) return all_;
  listed_ = true;
  const std::size_t added = all_.size();
  std::sort(all_.begin(), all_.end(), before);
  std::map<model::Uid, base::WallTime> firstEnds;
  for (const model::FreedNode& each : snapshot_.freed) firstEnds.try_emplace(each.job, each.at);
  all_.reserve(added + notes_.holders().size());
  for (const auto& [job, facts] : notes_.holders()) {
    ExpectedTime end = expectedEnd(*job, facts, snapshot_.now, runs_);
    if (!firstEnds.empty() && facts.placed) {
      if (const auto first = firstEnds.find(job->uid); first != firstEnds.end()) {
        const base::WallTime soon = overrunEnd(first->second, snapshot_.now);
        if (soon < end.at) end = {soon, Basis::kLearnt};
      }
    }
    all_.push_back({.at = end.at, .job = job.get(), .basis = end.basis, .isLeaving = facts.leaving});
  }
  // The holders are in the order of keys already; only what add() appended before is not.
  std::stable_sort(all_.begin() + static_cast<std::ptrdiff_t>(added), all_.end(),
                   [](const Ending& a, const Ending& b) { return a.at < b.at; });
  std::inplace_merge(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(added), all_.end(), before);
  return all_;
}

std::optional<Ends> Ends::seenBy(const PreemptibleFrom& preemptibleFrom) {
  std::vector<std::pair<std::size_t, base::WallTime>> sooner;
  for (std::size_t i = 0; i < all().size(); ++i) {
    const auto from = preemptibleFrom(*all_[i].job);
    if (!from) continue;
    // A gang that may be preempted now is gone within moments.
    const base::WallTime by = *from <= snapshot_.now ? base::WallTime(snapshot_.now + kMinOverrun) : *from;
    sooner.emplace_back(i, std::min(all_[i].at, by));
  }
  if (sooner.empty()) return std::nullopt;
  Ends seen = *this;
  for (const auto& [index, at] : sooner) {
    seen.all_[index].at = at;
    seen.all_[index].basis = Basis::kStated;
  }
  std::stable_sort(seen.all_.begin(), seen.all_.end(), before);
  return seen;
}

const NodeAmounts& Ends::holds(std::size_t index) {
  Ending& ending = all_[index];
  if (ending.holds) return *ending.holds;
  if (!promised_) promised_ = promisedCapacity(notes_.proposing(), ledger_);
  ending.holds = capacityHeldBy(*ending.job, ledger_);
  if (const auto passed = promised_->find(ending.job->uid); passed != promised_->end())
    ending.holds->insert(ending.holds->end(), passed->second.begin(), passed->second.end());
  return *ending.holds;
}

void Ends::add(const Job& job, const std::vector<model::Assignment>& assignments) {
  const ExpectedRun run = expectedRun(job, snapshot_.now, runs_);
  Ending ending{snapshot_.now + run.time, &job, run.basis, amountsOf(job, assignments, ledger_)};
  if (listed_)
    insertEnding(all_, std::move(ending));
  else
    all_.push_back(std::move(ending));
}

void insertEnding(std::vector<Ending>& endings, Ending ending) {
  endings.insert(std::upper_bound(endings.begin(), endings.end(), ending, before), std::move(ending));
}

}  // namespace trainyard::core
