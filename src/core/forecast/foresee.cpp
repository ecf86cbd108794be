#include "core/forecast/foresee.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_set>
#include <utility>

#include "core/admission/admission.h"
#include "core/forecast/instant_cycle.h"
#include "core/gang/gang_proposals.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "core/status/describe.h"
#include "core/timeline/ends.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/managed_by.h"
#include "model/member_of.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

using base::WallTime;
using model::Job;
using JobPtr = std::shared_ptr<const Job>;
namespace conditions = model::conditions;

// Capacity that victims leave may let other jobs start, so each moment has up to this many rounds.
constexpr int kRounds = 4;

class StartForecast {
 public:
  StartForecast(const model::Snapshot& snapshot, const std::set<model::ObjectKey>& selected)
      : cycle_(settled(snapshot)), selected_(selected) {
    for (const JobPtr& job : world().jobs) {
      if (!job->status.gang.placed) waited_.insert(job->key);
      noteEnd(*job);
    }
  }

  std::map<model::ObjectKey, Expectation> run() {
    for (int moment = 0; moment < kMaxMoments && expected_.size() < selected_.size(); ++moment) {
      int round = 0;
      while (round < kRounds && decide()) ++round;
      if (!advance()) break;
    }
    return std::move(expected_);
  }

 private:
  struct Ended {
    Expectation::End end;
    std::set<model::NodeName> nodes;
  };

  // Returns the snapshot after everything that is under way has completed.
  static model::Snapshot settled(model::Snapshot snapshot) {
    std::unordered_set<std::string> gone;
    for (const JobPtr& job : snapshot.jobs) {
      if (!job->status.gang.proposal) continue;
      for (const model::Victim& victim : job->status.gang.proposal->victims) gone.insert(victim.uid.str());
    }
    std::map<model::Uid, std::int64_t> restarted;  // epoch from which on pods stay
    for (JobPtr& each : snapshot.jobs.edit()) {
      auto job = std::make_shared<Job>(*each);
      if (const auto& proposal = job->status.gang.proposal) {
        if (proposal->kind == model::ProposalKind::kRestart) restarted[job->uid] = proposal->epoch;
        const bool aborts = proposal->phase == model::ProposalPhase::kAborting;
        job->status.gang = aborts ? dropProposal(*job) : mergeProposal(*job);
      }
      job->status.gpus = model::gangGpus(job->spec, job->status.gang);
      const bool placed = job->status.gang.placed.has_value();
      if (!job->finished()) {
        setHolds(*job, conditions::kScheduled, placed, snapshot.now);
        setHolds(*job, conditions::kQueued, !placed, snapshot.now);
      }
      each = std::move(job);
    }
    std::erase_if(snapshot.pods.edit(), [&](const auto& pod) {
      const auto restart = restarted.find(model::gangUidOf(*pod));
      const bool old = restart != restarted.end() && pod->member && pod->member->epoch < restart->second;
      return pod->terminating || old || gone.contains(pod->uid.str());
    });
    return snapshot;
  }

  [[nodiscard]] const model::Snapshot& world() const { return cycle_.snapshot(); }

  void noteEnd(const Job& job) {
    ends_.erase(job.key);
    if (!job.status.gang.placed || job.finished()) return;
    RunTimeModel runs(world(), live_);
    const ExpectedTime end = expectedEnd(job, world().now, runs);
    if (end.basis != Basis::kGuess) ends_[job.key] = end.at;
  }

  std::vector<SchedulableJob> waiting(const QueueTree& tree) {
    JobFeedback checked;
    checked.templateError = "";
    std::vector<SchedulableJob> all;
    for (const JobPtr& job : world().jobs) {
      const model::GangRecord& gang = job->status.gang;
      if (gang.placed || gang.proposal || job->deleting || job->finished()) continue;
      if (job->spec.run.suspend || model::managedByOther(*job) || refusalOfTemplate(*job)) continue;
      if (const auto until = backsOffUntil(gang, world().now)) {
        wakeAt(until);
      } else if (!admit(*job, world(), tree, checked).refusal) {
        all.push_back({job});
      }
    }
    return all;
  }

  // Returns true if a gang was preempted, so that other jobs may start now.
  bool decide() {
    wake_.reset();
    const InstantCycle::Outcome outcome =
        cycle_.decide([this](const QueueTree& tree) { return waiting(tree); });
    wakeAt(outcome.wakeAt);
    std::set<model::Uid> left;
    for (const Change& change : outcome.changes) {
      if (change.kind == ChangeKind::kStart && selected_.contains(change.job->key)) expect(change, outcome);
      if (change.kind != ChangeKind::kStart) left.insert(change.job->uid);
      noteEnd(jobOf(change.job->key));
    }
    if (!left.empty()) dropPods(left);
    for (const GangWait& wait : outcome.waits) {
      if (selected_.contains(wait.job->key) && wait.pending->nextRelaxation)
        relaxations_[wait.job->key] = *wait.pending->nextRelaxation;
    }
    return outcome.stopped;
  }

  void expect(const Change& start, const InstantCycle::Outcome& outcome) {
    const auto& assignments = start.add.assignments;
    Expectation expectation{
        .start = world().now,
        .assignments = assignments,
        .where = describePlacement(assignments, cycle_.cache().ledger(), world().policy.topology)};
    const auto touches = [&](const Ended& ended) {
      return std::any_of(expectation.assignments.begin(), expectation.assignments.end(),
                         [&](const auto& place) { return ended.nodes.contains(place.node); });
    };
    for (const Ended& ended : ended_) {
      if (touches(ended)) expectation.after.push_back(ended.end);
    }
    // Quota that an ended gang leaves is not on any particular node.
    if (expectation.after.empty()) {
      for (const Ended& ended : ended_) {
        if (ended.end.at == world().now) expectation.after.push_back(ended.end);
      }
    }
    for (const Change& change : outcome.changes) {
      if (change.preemptor != start.job->key) continue;
      (change.kind == ChangeKind::kMove ? expectation.moves : expectation.stops).push_back(change.job->key);
    }
    if (const auto wider = relaxations_.find(start.job->key);
        wider != relaxations_.end() && wider->second <= world().now) {
      expectation.relaxation = wider->second;
    }
    expected_.emplace(start.job->key, std::move(expectation));
  }

  const Job& jobOf(const model::ObjectKey& key) const { return *world().jobs.find(key); }

  void dropPods(const std::set<model::Uid>& owners) {
    std::erase_if(cycle_.world().pods.edit(),
                  [&](const auto& pod) { return owners.contains(model::gangUidOf(*pod)); });
  }

  // Advances to the next known moment; returns false if there is none.
  bool advance() {
    std::optional<WallTime> next = wake_;
    for (const auto& [key, at] : ends_) {
      if (!next || at < *next) next = at;
    }
    if (!next) return false;
    cycle_.setTime(*next);
    std::vector<std::pair<model::ObjectKey, WallTime>> over;
    std::copy_if(ends_.begin(), ends_.end(), std::back_inserter(over),
                 [&](const auto& end) { return end.second <= *next; });
    std::set<model::Uid> owners;
    for (const auto& [key, at] : over) {
      Ended ended{{key, at, waited_.contains(key)}, {}};
      for (const auto& place : jobOf(key).status.gang.placed->assignments) ended.nodes.insert(place.node);
      ended_.push_back(std::move(ended));
      owners.insert(cycle_.end(key)->uid);
      ends_.erase(key);
    }
    if (!owners.empty()) dropPods(owners);
    return true;
  }

  void wakeAt(std::optional<WallTime> time) {
    if (time && *time > world().now && (!wake_ || *time < *wake_)) wake_ = time;
  }

  InstantCycle cycle_;
  const std::set<model::ObjectKey>& selected_;
  std::map<model::ObjectKey, WallTime> ends_;  // of placed gangs, if known
  LiveRuns live_;
  std::set<model::ObjectKey> waited_;  // had no placement at first
  std::vector<Ended> ended_;           // in the order of their ends
  std::map<model::ObjectKey, WallTime> relaxations_;
  std::optional<WallTime> wake_;
  std::map<model::ObjectKey, Expectation> expected_;
};

}  // namespace

std::map<model::ObjectKey, Expectation> foresee(const model::Snapshot& snapshot,
                                                const std::set<model::ObjectKey>& selected) {
  return StartForecast(snapshot, selected).run();
}

}  // namespace trainyard::core
