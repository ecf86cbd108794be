#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/cycle/cycle.h"
#include "core/cycle/failed_gang.h"
#include "core/cycle/schedule.h"
#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/ledger/ledger.h"
#include "core/ledger/members.h"
#include "core/preemption/claims.h"
#include "core/queues/queue_tree.h"
#include "core/status/job_status.h"

namespace trainyard::core {

// One cycle() under way; core/cycle/cycle.h describes its phases. Each group of functions is implemented in a
// file of its own, and only those files include this header.
class Cycle {
 public:
  using GangRecord = model::GangRecord;
  using Job = model::Job;
  using JobPtr = std::shared_ptr<const Job>;

  Cycle(const CycleInput& input, CycleCache& cache);
  Plan run();

 private:
  // cycle.cpp: phase 2, one job at a time.
  [[nodiscard]] std::vector<JobPtr> claims() const;
  [[nodiscard]] std::vector<JobPtr> standingClaims() const;
  [[nodiscard]] std::set<model::ObjectKey> gangsHoldingClaimed() const;
  [[nodiscard]] GangContext contextOf(const JobFeedback& feedback) const;
  void decideAll();
  [[nodiscard]] const LifeSign* lifeOf(const Job& job) const;
  bool isSettled(const JobNotes::Note& note);
  void decide(const JobPtr& job);
  [[nodiscard]] std::optional<model::ObjectKey> preemptorOf(const Job& job);
  void chargeLeaving(const Job& job);
  void keepQueuePosition(const JobPtr& job);
  void wait(const JobPtr& job);
  void settle(std::optional<base::WallTime> until = std::nullopt);
  void dropEmptyDecisions();

  // cycle_proposals.cpp: the next step of a gang that has a proposal under way.
  void stepOn(const JobPtr& job);
  void recordPlanAtSize(const Job& job, JobDecision& decision) const;
  bool mayStayUnwritten(const Job& job);
  [[nodiscard]] bool isAboutToRun(const Job& job, const GangRecord& record) const;
  [[nodiscard]] bool runsAlone(const Job& job) const;
  [[nodiscard]] static bool waitsForCapacity(const GangWait& wait);
  [[nodiscard]] bool isStatusDeferred(const Job& job) const;
  void awaitMove(const JobPtr& job);
  [[nodiscard]] ClaimOnGang claimOf(const model::ObjectKey& preemptor, const model::Job& gang,
                                    const JobPods& pods) const;

  // cycle_placed.cpp: a gang with a placement: the state of its members, and what follows from it.
  void watchPlaced(const JobPtr& job);
  void recordLost(const JobPtr& job);
  void followFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict);
  void resumeFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict);
  FailedGang takeForRestart(const Job& job, FailedGang gang);
  void follow(const JobPtr& job, FailedGang gang);
  void endHoldings(const JobPtr& job);
  static void reportSilence(const Job& job, const StatusUpdate& update, JobDecision& decision);
  void replaceLostMembers(const JobPtr& job, const std::vector<Member>& members, StatusUpdate update);
  [[nodiscard]] bool mayRestartNow(const Job& job) const;
  [[nodiscard]] PlacementScope placementScope();
  void take(const Job& job, const std::vector<model::Assignment>& assignments);
  void takeAndRecharge(const Job& job, const GangRecord& record,
                       const std::vector<model::Assignment>& assignments);
  [[nodiscard]] int claimedOfElastic(const Job& job, const model::ObjectKey& preemptor);
  [[nodiscard]] bool isOfOtherQueue(const model::ObjectKey& other, const Job& job) const;
  void evict(const JobPtr& job, const model::ObjectKey& preemptor);

  // cycle_removal.cpp: deletes the pods of jobs that are deleted, suspended or finished.
  void drainDeleted(const JobPtr& job);
  void clearDeleted(const JobPtr& job);
  void cleanUpFinished(const JobPtr& job);
  void stopForSuspension(const JobPtr& job);
  void removeStrays(const JobPtr& job, const std::vector<const model::Pod*>& strays);
  void removePods(const JobPods& pods, JobDecision& decision);
  void finishRemoval(Removal& removal, JobDecision& decision);

  // cycle_admit.cpp: a job without a placement: whether it is admitted, and what it has to wait for first.
  void admitOrRefuse(const JobPtr& job);
  void holdSuspended(const JobPtr& job);
  void refuse(const JobPtr& job, model::Pending refusal);
  void awaitPlan(const JobPtr& job);
  void planNext();
  [[nodiscard]] const model::Pod* podOfFormerJob(const Job& job) const;
  std::optional<model::Pending> backingOff(const Job& job);

  // cycle_starts.cpp: phases 3 to 9, as schedule() decides: gangs that start or give up capacity.
  void placePending();
  void countStarting();
  void countClaims();
  [[nodiscard]] PendingRelease pendingReleaseOf(const JobPtr& job, const Job& preemptor);
  [[nodiscard]] const std::unordered_set<model::Uid>& namedBy(const model::ObjectKey& preemptor);
  void begin(Change& start, const std::vector<Change>& victimChanges);
  [[nodiscard]] std::vector<model::Victim> victimsOf(const Change& victimChange) const;
  [[nodiscard]] static std::string describe(const std::vector<Change>& victimChanges);
  void startAlone(JobDecision& decision) const;
  [[nodiscard]] std::chrono::seconds longestGrace(const std::vector<JobPtr>& victims,
                                                  const std::vector<model::Victim>& strays) const;
  void warnOfCappedGrace(const Job& job, JobDecision& decision) const;
  void recordStartSize(const Job& job, const GangRecord& record, model::ResizeStatus& status) const;
  void move(const Change& change);
  void yieldClaim(const GangYield& yield);

  // cycle_pending.cpp: what pending jobs report.
  void explain(const GangWait& wait, Urgency defaultUrgency = Urgency::kNow);
  [[nodiscard]] static bool sameButSince(const model::Pending& a, const model::Pending& b);
  [[nodiscard]] bool isReported(const GangWait& wait) const;
  void explainStarting(const GangWait& wait);
  bool timedOut(const GangWait& wait);

  // cycle_sizes.cpp: elastic gangs that are resized.
  void scale(const Schedule& schedule);
  void leaveOutClaimed();
  bool someEnded(const Job& job);
  void resize(const Change& change, model::SizeOwner by);
  [[nodiscard]] static std::string sizeMessage(const Change& change, model::SizeOwner by);

  // cycle_status.cpp: the status that is written.
  JobDecision& derive(const JobPtr& job, GangRecord record, const StatusUpdate& update);
  void recordTypes(GangRecord& record) const;
  void write(const JobPtr& job, GangRecord record, std::vector<JobEvent> events, const StatusUpdate& update);
  [[nodiscard]] std::vector<Member> membersOf(const Job& job, const GangRecord& record) const;
  [[nodiscard]] std::string placementText(const GangRecord& record) const;
  void setChargedCondition(const Job& job, model::JobStatus& status) const;
  [[nodiscard]] static std::string explainUncharged(const Job& job, const model::QueueName& name);

  [[nodiscard]] const JobPods& podsOf(const Job& job) const { return ledger_.pods().of(job); }
  [[nodiscard]] Author author() const { return {input_.term, input_.snapshot.now, &settings_}; }
  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!plan_.wakeAt || *time < *plan_.wakeAt)) plan_.wakeAt = time;
  }
  JobDecision& add(const JobPtr& job) {
    plan_.decisions.push_back({.job = job});
    return plan_.decisions.back();
  }

  const CycleInput& input_;
  Settings settings_;
  CycleCache& cache_;
  Ledger& ledger_;
  QueueTree queues_;
  std::map<model::ObjectKey, model::ObjectKey> evictions_;  // gangs named by standing claims; the preemptor
  std::vector<SchedulableJob> waiting_;
  std::map<model::ObjectKey, model::ObjectKey> claimed_;  // gangs named by any claim, standing or not
  std::set<model::ObjectKey> holdingClaimed_;  // gangs that have yet to give up nodes that were claimed
  std::map<model::ObjectKey, std::unordered_set<model::Uid>> named_;  // by preemptor: see namedBy()
  std::set<const Job*> changing_;                 // placed gangs that this cycle changes, or that end
  std::set<const Job*> ended_;                    // those of them that their record no longer charges
  std::set<model::ObjectKey> changedInPlan_;      // gangs that this plan resizes, or that pay for a start
  std::vector<JobPtr> scaling_;                   // stable gangs that are asked to have another size
  std::vector<JobPtr> unplanned_;                 // jobs that wait for the shape of a plan; by key
  std::map<std::string, std::int64_t> starting_;  // members from reserved to bound, by namespace
  // For the job that is being decided.
  const JobFeedback* feedback_ = nullptr;
  std::size_t position_ = 0;
  Plan plan_;
};

}  // namespace trainyard::core
