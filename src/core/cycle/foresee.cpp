#include "core/cycle/foresee.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include "core/cycle/admission.h"
#include "core/cycle/cycle_cache.h"
#include "core/cycle/schedule.h"
#include "core/gang/gang_proposals.h"
#include "core/queues/eligibility.h"
#include "core/queues/queue_tree.h"
#include "core/status/describe.h"
#include "core/timeline/backfill.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

using base::WallTime;
using model::Job;
using JobPtr = std::shared_ptr<const Job>;
namespace conditions = model::conditions;

// Room that victims leave may let others in: asked again so often at one moment.
constexpr int kRounds = 4;

void say(Job& job, std::string_view type, bool holds, WallTime now) {
  setCondition(job.status.conditions, type,
               holds ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse, {}, {}, now,
               job.generation);
}

class Future {
 public:
  Future(const model::Snapshot& snapshot, const std::set<model::ObjectKey>& whom)
      : snapshot_(snapshot), whom_(whom) {}

  std::map<model::ObjectKey, Expectation> run() {
    settle();
    for (int moment = 0; moment < kMostMoments && expected_.size() < whom_.size(); ++moment) {
      int round = 0;
      while (round < kRounds && decide()) ++round;
      if (!goOn()) break;
    }
    return std::move(expected_);
  }

 private:
  struct Ended {
    Expectation::End end;
    std::set<model::NodeName> nodes;
  };

  // What is under way has come to its end.
  void settle() {
    std::unordered_set<std::string> gone;
    for (const JobPtr& job : snapshot_.jobs) {
      if (!job->status.gang.proposal) continue;
      for (const model::Victim& victim : job->status.gang.proposal->victims) gone.insert(victim.uid.str());
    }
    std::map<model::Uid, std::int64_t> restarted;  // epoch from which on pods stay
    for (JobPtr& each : snapshot_.jobs.edit()) {
      auto job = std::make_shared<Job>(*each);
      if (const auto& proposal = job->status.gang.proposal) {
        if (proposal->kind == model::ProposalKind::kRestart) restarted[job->uid] = proposal->epoch;
        const bool aborts = proposal->phase == model::ProposalPhase::kAborting;
        job->status.gang = aborts ? dropProposal(*job) : mergeProposal(*job);
      }
      job->status.gpus = model::gangGpus(job->spec, job->status.gang);
      const bool placed = job->status.gang.placed.has_value();
      if (!job->finished()) {
        say(*job, conditions::kScheduled, placed, snapshot_.now);
        say(*job, conditions::kQueued, !placed, snapshot_.now);
      }
      if (!placed) waited_.insert(job->key);
      noteEnd(*job);
      each = std::move(job);
    }
    std::erase_if(snapshot_.pods.edit(), [&](const auto& pod) {
      const auto restart = restarted.find(pod->controllerUid);
      const bool old = restart != restarted.end() && pod->member && pod->member->epoch < restart->second;
      return pod->terminating || old || gone.contains(pod->uid.str());
    });
  }

  void noteEnd(const Job& job) {
    ends_.erase(job.key);
    if (!job.status.gang.placed || job.finished()) return;
    if (const auto end = expectedEnd(job, snapshot_.now)) ends_[job.key] = *end;
  }

  std::vector<WaitingJob> waiting(const QueueTree& tree) {
    JobFeedback checked;
    checked.templateError = "";
    std::vector<WaitingJob> all;
    for (const JobPtr& job : snapshot_.jobs) {
      const model::GangRecord& gang = job->status.gang;
      if (gang.placed || gang.proposal || job->deleting || job->finished()) continue;
      if (job->spec.run.suspend || leftToOthers(*job) || refusalOfTemplate(*job)) continue;
      if (gang.backoff && snapshot_.now < gang.backoff->until) {
        wakeAt(gang.backoff->until);
      } else if (!admit(*job, snapshot_, tree, checked).refusal) {
        all.push_back({job});
      }
    }
    return all;
  }

  // Whether somebody was stopped, so that others may be let in now.
  bool decide() {
    wake_.reset();
    cache_.begin(snapshot_);
    QueueTree tree(snapshot_);
    const Schedule schedule =
        core::schedule({.snapshot = snapshot_,
                        .ledger = cache_.ledger(),
                        .domains = cache_.domains(),
                        .queues = tree,
                        .cache = cache_.schedule(),
                        .waiting = waiting(tree),
                        .startingMembers = 0,
                        .mostStartingMembers = std::numeric_limits<std::int64_t>::max()});
    cache_.end(snapshot_.jobs.size());
    wakeAt(schedule.wakeAt);
    bool stopped = false;
    for (const GangStart& start : schedule.starts) {
      if (whom_.contains(start.job->key)) expect(start);
      for (const JobPtr& victim : start.victims) stop(*victim);
      for (const GangMove& move : start.moves) {
        stop(*move.job);
        begin(*move.job, move.placement);
      }
      begin(*start.job, start.placement);
      stopped = stopped || !start.victims.empty();
    }
    for (const GangWait& wait : schedule.waits) keep(wait);
    for (const QueueNews& news : schedule.queues) {
      for (auto& queue : snapshot_.queues.edit()) {
        if (queue->name != news.queue->name) continue;
        auto changed = std::make_shared<model::Queue>(*queue);
        changed->status = news.status;
        queue = std::move(changed);
      }
    }
    return stopped;
  }

  void expect(const GangStart& start) {
    Expectation expectation{
        .start = snapshot_.now,
        .places = start.placement.assignments,
        .where = describePlaces(start.placement.assignments, cache_.ledger(), snapshot_.policy.topology)};
    const auto touches = [&](const Ended& ended) {
      return std::any_of(expectation.places.begin(), expectation.places.end(),
                         [&](const auto& place) { return ended.nodes.contains(place.node); });
    };
    for (const Ended& ended : ended_) {
      if (touches(ended)) expectation.after.push_back(ended.end);
    }
    // Room of a queue is nowhere in particular.
    if (expectation.after.empty()) {
      for (const Ended& ended : ended_) {
        if (ended.end.at == snapshot_.now) expectation.after.push_back(ended.end);
      }
    }
    for (const JobPtr& victim : start.victims) expectation.stops.push_back(victim->key);
    for (const GangMove& move : start.moves) expectation.moves.push_back(move.job->key);
    if (const auto wider = relaxations_.find(start.job->key);
        wider != relaxations_.end() && wider->second <= snapshot_.now) {
      expectation.relaxation = wider->second;
    }
    expected_.emplace(start.job->key, std::move(expectation));
  }

  Job* edit(const model::ObjectKey& key) {
    auto& jobs = snapshot_.jobs.edit();
    const auto at = std::lower_bound(jobs.begin(), jobs.end(), key,
                                     [](const JobPtr& job, const auto& wanted) { return job->key < wanted; });
    auto changed = std::make_shared<Job>(**at);
    Job* const job = changed.get();
    *at = std::move(changed);
    return job;
  }

  void begin(const Job& starting, const Placement& placement) {
    Job& job = *edit(starting.key);
    model::GangRecord& gang = job.status.gang;
    gang.backoff.reset();
    gang.placed = model::Placed{++gang.lastEpoch, placement.assignments};
    job.status.gpus = model::gangGpus(job.spec, gang);
    say(job, conditions::kScheduled, true, snapshot_.now);
    say(job, conditions::kQueued, false, snapshot_.now);
    noteEnd(job);
  }

  void stop(const Job& victim) {
    dropPods({victim.uid});
    Job& job = *edit(victim.key);
    job.status.gang.placed.reset();
    job.status.gpus = model::desiredGpus(job.spec);
    ++job.status.preemptions.count;
    job.status.preemptions.last = snapshot_.now;
    say(job, conditions::kScheduled, false, snapshot_.now);
    say(job, conditions::kQueued, true, snapshot_.now);
    noteEnd(job);
  }

  // How many have passed the first one counts on in the next cycle.
  void keep(const GangWait& wait) {
    if (whom_.contains(wait.job->key) && wait.pending->nextRelaxation)
      relaxations_[wait.job->key] = *wait.pending->nextRelaxation;
    const int before = wait.job->status.pending ? wait.job->status.pending->passes : 0;
    if (before != wait.pending->passes) edit(wait.job->key)->status.pending = *wait.pending;
  }

  void dropPods(const std::set<model::Uid>& owners) {
    std::erase_if(snapshot_.pods.edit(),
                  [&](const auto& pod) { return owners.contains(pod->controllerUid); });
  }

  // To the next moment of which anything is known; false when there is none.
  bool goOn() {
    std::optional<WallTime> next = wake_;
    for (const auto& [key, at] : ends_) {
      if (!next || at < *next) next = at;
    }
    if (!next) return false;
    snapshot_.now = *next;
    std::set<model::Uid> owners;
    std::erase_if(snapshot_.jobs.edit(), [&](const JobPtr& job) {
      const auto end = ends_.find(job->key);
      if (end == ends_.end() || end->second > snapshot_.now) return false;
      Ended ended{{job->key, end->second, waited_.contains(job->key)}, {}};
      for (const auto& place : job->status.gang.placed->assignments) ended.nodes.insert(place.node);
      ended_.push_back(std::move(ended));
      owners.insert(job->uid);
      ends_.erase(end);
      return true;
    });
    if (!owners.empty()) dropPods(owners);
    return true;
  }

  void wakeAt(std::optional<WallTime> time) {
    if (time && *time > snapshot_.now && (!wake_ || *time < *wake_)) wake_ = time;
  }

  model::Snapshot snapshot_;
  const std::set<model::ObjectKey>& whom_;
  CycleCache cache_;
  std::map<model::ObjectKey, WallTime> ends_;  // of placed gangs, as far as anything tells
  std::set<model::ObjectKey> waited_;          // had no places to begin with
  std::vector<Ended> ended_;                   // as they ended
  std::map<model::ObjectKey, WallTime> relaxations_;
  std::optional<WallTime> wake_;
  std::map<model::ObjectKey, Expectation> expected_;
};

}  // namespace

std::map<model::ObjectKey, Expectation> foresee(const model::Snapshot& snapshot,
                                                const std::set<model::ObjectKey>& whom) {
  return Future(snapshot, whom).run();
}

}  // namespace trainyard::core
