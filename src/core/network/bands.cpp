#include "core/network/bands.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace trainyard::core {
namespace {

// A quarter: the last job in the order still moves, and the first keeps most of what the order gains.
constexpr int kGuaranteedPermille = 250;

bool older(const RankedJob& a, const RankedJob& b) {
  return std::tie(a.since, a.uid) < std::tie(b.since, b.uid);
}

bool sooner(const RankedJob& a, const RankedJob& b) {
  if (a.expectedEnd.has_value() != b.expectedEnd.has_value()) return a.expectedEnd.has_value();
  if (a.expectedEnd && *a.expectedEnd != *b.expectedEnd) return *a.expectedEnd < *b.expectedEnd;
  return older(a, b);
}

bool shorter(const RankedJob& a, const RankedJob& b) {
  if (a.burst.has_value() != b.burst.has_value()) return a.burst.has_value();
  if (a.burst && a.burst->bytes != b.burst->bytes) return a.burst->bytes < b.burst->bytes;
  return sooner(a, b);
}

// Returns true if b must go before a, although a was before it in the last order.
bool overtakes(const RankedJob& b, const RankedJob& a) {
  if (!b.burst) return false;
  return !a.burst || b.burst->bytes < a.burst->bytes - a.burst->bytes / 5;
}

// Starts from the last order without ended jobs, with new jobs at the end in their own order; then swaps
// neighbours while any swap is due. Each swap puts a shorter burst before a longer one, so the loop ends.
std::vector<RankedJob> byBurst(std::vector<RankedJob> jobs, const std::vector<std::string>& lastOrder) {
  std::sort(jobs.begin(), jobs.end(), shorter);
  const auto place = [&](const RankedJob& job) {
    return std::find(lastOrder.begin(), lastOrder.end(), job.uid) - lastOrder.begin();
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const RankedJob& a, const RankedJob& b) { return place(a) < place(b); });
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i < jobs.size(); ++i) {
      if (!overtakes(jobs[i], jobs[i - 1])) continue;
      std::swap(jobs[i], jobs[i - 1]);
      changed = true;
    }
  }
  return jobs;
}

// Every job moves up by one place each time slice; the first one moves to the end.
void shift(std::vector<RankedJob>& jobs, base::WallTime now, std::chrono::seconds turn) {
  if (jobs.empty() || turn.count() <= 0) return;
  const auto turns = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()) / turn;
  const auto by = static_cast<std::size_t>(std::max<std::int64_t>(turns, 0)) % jobs.size();
  std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(by), jobs.end());
}

Discipline disciplineOf(const std::vector<RankedJob>& jobs, std::int64_t bytesPerSecond) {
  std::vector<BurstProfile> bursts;
  for (const RankedJob& job : jobs) {
    // Unknown burst: the paper found the strict order to be good, and the guaranteed part bounds the harm.
    if (!job.burst) return Discipline::kGuaranteed;
    bursts.push_back(*job.burst);
  }
  return chooseDiscipline(bursts, bytesPerSecond);
}

}  // namespace

BandPlan planBands(const BandQuestion& question) {
  BandPlan plan;
  std::vector<RankedJob> free;
  for (const RankedJob& job : question.jobs) {
    if (job.fixedBand) {
      plan.bands.push_back({job.uid, std::clamp(*job.fixedBand, 0, kBands - 1)});
    } else {
      free.push_back(job);
    }
  }
  if (question.policy == BandPolicy::kBursts) {
    free = byBurst(std::move(free), question.lastOrder);
    for (const RankedJob& job : free) plan.order.push_back(job.uid);
    plan.discipline = disciplineOf(free, question.bytesPerSecond);
    plan.guaranteedPermille = kGuaranteedPermille;
  } else {
    std::sort(free.begin(), free.end(), older);
  }
  if (question.policy == BandPolicy::kRoundRobin || plan.discipline == Discipline::kRotate)
    shift(free, question.now, question.turn);
  const std::size_t block = (free.size() + kBands - 1) / kBands;
  for (std::size_t i = 0; i < free.size(); ++i)
    plan.bands.push_back({free[i].uid, static_cast<int>(i / block)});
  std::stable_sort(plan.bands.begin(), plan.bands.end(),
                   [](const JobBand& a, const JobBand& b) { return a.band < b.band; });
  return plan;
}

}  // namespace trainyard::core
