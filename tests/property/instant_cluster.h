#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "property/queue_scene.h"

namespace trainyard::test {

// A cluster in which every decision of a plan has taken effect a moment later: started gangs run, preempted
// gangs are gone. For the effects of many cycles.
class InstantCluster {
 public:
  explicit InstantCluster(const model::Snapshot& begin) : frame_(begin) {
    for (const auto& job : begin.jobs) jobs_[job->key] = std::make_shared<model::Job>(*job);
  }

  [[nodiscard]] model::Snapshot snapshot() const {
    model::Snapshot now = frame_;
    now.jobs = {};
    now.pods = {};
    std::map<model::ObjectKey, model::Pod> pods;
    for (const auto& [name, job] : jobs_) {
      now.jobs.push_back(std::make_shared<const model::Job>(*job));
      for (model::Pod& pod : podsOf(*job)) pods.emplace(pod.key, std::move(pod));
    }
    for (auto& [name, pod] : pods) now.pods.push_back(std::make_shared<const model::Pod>(std::move(pod)));
    return now;
  }

  // Runs one cycle and applies its plan; false if no gang started.
  bool step() {
    const core::Plan plan = core::cycle(inputOf(snapshot()));
    for (const core::JobDecision& decision : plan.decisions) {
      if (decision.status && !decision.status->gang.proposal)
        jobs_.at(decision.job->key)->status = *decision.status;
    }
    const std::vector<PlannedStart> starts = startsOf(plan);
    for (const PlannedStart& start : starts) {
      for (const model::Victim& victim : start.proposal.victims) stop(victim.pod);
    }
    for (const PlannedStart& start : starts) {
      model::Job& job = *jobs_.at(start.job->key);
      ++job.status.gang.lastEpoch;
      makeRunning(job, start.proposal.add, frame_.now);
    }
    return !starts.empty();
  }

  void pass(std::chrono::seconds time) { frame_.now += time; }

  // The job succeeds and is deleted.
  void end(const model::ObjectKey& job) { jobs_.erase(job); }

  [[nodiscard]] std::vector<model::ObjectKey> running() const {
    std::vector<model::ObjectKey> names;
    for (const auto& [name, job] : jobs_) {
      if (job->status.gang.placed) names.push_back(name);
    }
    return names;
  }
  [[nodiscard]] std::size_t stopped() const { return stopped_; }

 private:
  // Preempts the gang of this pod.
  void stop(const model::ObjectKey& pod) {
    for (auto& [name, job] : jobs_) {
      if (!job->status.gang.placed) continue;
      const std::vector<model::Pod> pods = podsOf(*job);
      if (std::none_of(pods.begin(), pods.end(), [&](const model::Pod& each) { return each.key == pod; }))
        continue;
      ++stopped_;
      job->status.gang.placed.reset();
      job->status.startTime.reset();
      job->status.conditions.clear();
      job->status.preemptions.last = frame_.now;
      ++job->status.preemptions.count;
      return;
    }
  }

  model::Snapshot frame_;
  std::map<model::ObjectKey, std::shared_ptr<model::Job>> jobs_;
  std::size_t stopped_ = 0;
};

}  // namespace trainyard::test
