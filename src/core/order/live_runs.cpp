#include "core/order/live_runs.h"

#include <algorithm>
#include <tuple>

#include "core/ledger/list_changes.h"
#include "core/order/run_times.h"
#include "model/gang_size.h"

namespace trainyard::core {
namespace {

bool isLive(const model::Job& job) { return job.status.gpus > 0 && !job.finished(); }

bool submittedBefore(const LiveRuns::Run& a, const LiveRuns::Run& b) {
  return std::tie(a.submitted, a.job->key) < std::tie(b.submitted, b.job->key);
}

LiveRuns::Run runOf(const model::Job& job) { return {&job, job.created, runClockOf(job)}; }

LiveRuns::Facts computeFacts(const model::Job& job) {
  return {kindNumbersOf(job), model::gangGpus(job.spec, job.status.gang)};
}

}  // namespace

void LiveRuns::follow(const model::SharedList<model::Job>& jobs) {
  if (jobs.isSameAs(jobs_)) return;
  // The first list is all new: to append in the order of the list and sort once is cheaper.
  const bool first = jobs_.begin() == jobs_.end();
  forEachChange(jobs_, jobs, [&](const JobPtr& before, const JobPtr& after) {
    if (before) remove(before);
    if (!after || !isLive(*after)) return;
    if (!first) return add(after);
    const Facts& facts = facts_[after.get()] = computeFacts(*after);
    const Run run = runOf(*after);
    for (const Kind kind : facts.kinds) live_[kind].push_back(run);
  });
  if (first) {
    for (auto& [kind, live] : live_) std::sort(live.begin(), live.end(), submittedBefore);
  }
  jobs_ = jobs;
}

const std::vector<LiveRuns::Run>& LiveRuns::of(Kind kind) const {
  static const std::vector<Run> kNone;
  const auto found = live_.find(kind);
  return found == live_.end() ? kNone : found->second;
}

LiveRuns::Facts LiveRuns::factsOf(const model::Job& job) const {
  const auto found = facts_.find(&job);
  return found == facts_.end() ? computeFacts(job) : found->second;
}

void LiveRuns::add(const JobPtr& job) {
  const Facts& facts = facts_[job.get()] = computeFacts(*job);
  const Run run = runOf(*job);
  for (const Kind kind : facts.kinds) {
    auto& live = live_[kind];
    live.insert(std::upper_bound(live.begin(), live.end(), run, submittedBefore), run);
  }
}

void LiveRuns::remove(const JobPtr& job) {
  const auto found = facts_.find(job.get());
  if (found == facts_.end()) return;
  const Run run{job.get(), job->created, {}};
  for (const Kind kind : found->second.kinds) {
    auto& live = live_[kind];
    live.erase(std::lower_bound(live.begin(), live.end(), run, submittedBefore));
    if (live.empty()) live_.erase(kind);
  }
  facts_.erase(found);
}

}  // namespace trainyard::core
