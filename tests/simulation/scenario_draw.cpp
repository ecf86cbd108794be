#include <algorithm>

#include <fmt/format.h>

#include "simulation/contention_draw.h"
#include "simulation/owner_draw.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {
namespace {

// The log of a failing job: hopeless, another node may help, a retry may help, and of no known class.
constexpr const char* kLastWords[] = {
    "ModuleNotFoundError: No module named 'apex'",
    "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1269, unhandled system error, NCCL version 2.14.3",
    "epoch 3 done",
};

using std::chrono::milliseconds;

class Draw {
 public:
  Draw(std::uint64_t seed, const DrawOptions& options)
      : rng_(seed * 0x9E37'79B9'7F4A'7C15ULL + 1),
        wishes_(seed * 0x9E37'79B9'7F4A'7C15ULL + 2),
        lent_(seed * 0x9E37'79B9'7F4A'7C15ULL + 3),
        owners_(seed * 0x9E37'79B9'7F4A'7C15ULL + 4),
        options_(options) {
    scenario_.seed = seed;
  }

  Scenario run() {
    cluster();
    const int jobs = static_cast<int>(rng_.between(1, 4));
    for (int i = 0; i < jobs; ++i) job(i);
    foreignPods();
    const int troubles = static_cast<int>(rng_.between(0, 4));
    for (int i = 0; i < troubles; ++i) trouble();
    odds();
    // Scenarios that are arranged for one step stay unchanged.
    if (options_.contention && !arranged_) drawContention(scenario_, rng_.split());
    if (options_.late) lateMembers();
    if (!arranged_) nodeWishes();
    if (options_.owners) drawOwners(scenario_, owners_, arranged_);
    if (options_.contention && options_.lending && !arranged_) lendings();
    std::stable_sort(scenario_.troubles.begin(), scenario_.troubles.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return std::move(scenario_);
  }

 private:
  void cluster() {
    scenario_.nodes = static_cast<int>(rng_.between(3, 6));
    scenario_.gpusOnNode = rng_.chance(1, 3) ? 4 : 8;
    scenario_.nodesInRack = static_cast<int>(rng_.between(1, 3));
    scenario_.operators = rng_.chance(1, 6) ? 1 : 2;
    scenario_.extender = !rng_.chance(1, 4);
    static constexpr std::int64_t kLatencies[] = {200, 500, 5'000};
    static constexpr std::int64_t kLags[] = {500, 2'000, 20'000, 300'000};
    scenario_.latency = std::chrono::microseconds(kLatencies[rng_.below(3)]);
    scenario_.watchLag = std::chrono::microseconds(kLags[rng_.below(4)]);
    scenario_.length = milliseconds(rng_.between(12'000, 30'000));
  }

  // Most troubles occur while gangs are being created, soon after a job was submitted.
  milliseconds moment() {
    if (!scenario_.jobs.empty() && rng_.chance(2, 3)) {
      const auto& job = scenario_.jobs[rng_.below(scenario_.jobs.size())];
      return job.submitAt + milliseconds(rng_.between(0, 1'500));
    }
    return milliseconds(rng_.between(0, scenario_.length.count()));
  }

  void job(int number) {
    JobPlan plan;
    plan.name = fmt::format("j{}", number);
    plan.submitAt = milliseconds(rng_.between(0, scenario_.length.count() / 2));
    plan.runFor = milliseconds(rng_.between(200, 6'000));
    plan.exitCode = rng_.chance(1, 8) ? 1 : 0;
    if (plan.exitCode != 0) plan.log = kLastWords[rng_.below(std::size(kLastWords))];
    if (rng_.chance(1, 10)) plan.deadline = std::chrono::seconds(rng_.between(1, 5));
    plan.restartWhole = rng_.chance(1, 2);
    if (rng_.chance(1, 5)) plan.required = "rack";
    const auto gpus = [&] { return static_cast<int>(1 << rng_.below(scenario_.gpusOnNode == 8 ? 4 : 3)); };
    plan.roles.push_back({"worker", rng_.chance(1, 4) ? 1 : static_cast<int>(rng_.between(2, 4)), gpus()});
    if (rng_.chance(1, 4)) plan.roles.push_back({"ps", static_cast<int>(rng_.between(1, 2)), gpus() / 2});
    if (rng_.chance(1, 4)) stretch(plan);
    scenario_.jobs.push_back(std::move(plan));
  }

  // Every second gang that is not elastic may start before all its members exist.
  void lateMembers() {
    for (JobPlan& plan : scenario_.jobs) {
      if (!plan.elastic && rng_.chance(1, 2)) plan.late = static_cast<int>(rng_.between(1, 3));
    }
  }

  // From a random generator of their own, so that all other choices of a seed stay the same.
  void nodeWishes() {
    static constexpr NodeConstraint kWishes[] = {NodeConstraint::kRack, NodeConstraint::kOtherRack,
                                                 NodeConstraint::kTolerates, NodeConstraint::kApart};
    for (JobPlan& plan : scenario_.jobs) {
      if (wishes_.chance(1, 4)) plan.wish = kWishes[wishes_.below(std::size(kWishes))];
    }
  }

  // Jobs that never end take the free capacity. One pending job is entitled to some of it: by the guarantee
  // of its queue, or as it came first.
  void lendings() {
    scenario_.lending = true;
    scenario_.policy.backfill.reservationLimit = milliseconds(lent_.between(1'000, 20'000));
    const milliseconds first(lent_.between(0, scenario_.length.count() / 2));
    if (lent_.chance(1, 2))
      holder(first);
    else
      owner();
    const int jobs = static_cast<int>(lent_.between(1, 5));
    for (int i = 0; i < jobs; ++i) lentTo(fmt::format("lent{}", i), first);
  }

  // It needs the whole cluster. Only jobs that run already have precedence.
  void holder(milliseconds at) {
    scenario_.policy.ordering = model::Ordering::kFifo;
    scenario_.queues.clear();
    for (JobPlan& plan : scenario_.jobs) {
      plan.queue.clear();
      plan.priority.clear();
      plan.preemptible = true;
    }
    JobPlan plan;
    plan.name = "holder";
    plan.submitAt = at;
    plan.runFor = milliseconds(3'000);
    plan.roles.push_back({"worker", scenario_.nodes * scenario_.gpusOnNode, 1});
    scenario_.jobs.push_back(std::move(plan));
  }

  void owner() {
    int left = scenario_.nodes * scenario_.gpusOnNode;
    for (const QueuePlan& queue : scenario_.queues) left -= queue.guaranteed;
    if (left <= 0) return;
    QueuePlan owners;
    owners.name = "owners";
    owners.guaranteed = static_cast<int>(lent_.between(1, left));
    JobPlan plan;
    plan.name = "owner";
    plan.queue = owners.name;
    plan.submitAt = milliseconds(lent_.between(scenario_.length.count() / 2, scenario_.length.count()));
    plan.runFor = milliseconds(3'000);
    plan.roles.push_back({"worker", static_cast<int>(lent_.between(1, owners.guaranteed)), 1});
    scenario_.queues.push_back(std::move(owners));
    scenario_.jobs.push_back(std::move(plan));
  }

  void lentTo(std::string name, milliseconds from) {
    const bool isTeams = !scenario_.queues.empty();
    JobPlan plan;
    plan.name = std::move(name);
    plan.neverEnds = true;
    plan.runFor = std::chrono::hours(24);
    plan.submitAt = milliseconds(lent_.between(isTeams ? 0 : from.count(), scenario_.length.count()));
    plan.restartWhole = lent_.chance(1, 2);
    if (lent_.chance(1, 3)) plan.estimate = std::chrono::seconds(lent_.chance(1, 2) ? 1 : 36'000);
    if (isTeams) {
      plan.preemptible = !lent_.chance(1, 10);
      const std::size_t queue = lent_.below(scenario_.queues.size());
      if (scenario_.queues[queue].name != "owners") plan.queue = scenario_.queues[queue].name;
      if (lent_.chance(1, 4)) plan.priority = "high";
    }
    const int gpus = lent_.chance(1, 2) ? 1 : scenario_.gpusOnNode;
    const int most = scenario_.nodes * scenario_.gpusOnNode / gpus;
    plan.roles.push_back({"worker", static_cast<int>(lent_.between(1, most)), gpus});
    scenario_.jobs.push_back(std::move(plan));
  }

  // It changes its size, usually several times, while it runs.
  void stretch(JobPlan& plan) {
    plan.elastic = true;
    plan.resizes = static_cast<ResizePlan>(rng_.below(3));
    static constexpr const char* kTimes[] = {"", "50ms", "900ms", "never"};
    plan.leaveFor = kTimes[rng_.below(4)];
    plan.runFor = milliseconds(rng_.between(3'000, 15'000));
    const auto times = rng_.below(4);
    for (std::uint64_t i = 0; i < times; ++i) {
      pick_ = scenario_.jobs.size();
      const milliseconds at = plan.submitAt + milliseconds(rng_.between(500, plan.runFor.count()));
      put(at, Trouble::kScaleJob, static_cast<int>(rng_.between(1, 6)));
      if (rng_.chance(1, 6)) put(at, Trouble::kScaleResizing, static_cast<int>(rng_.between(1, 6)));
      if (rng_.chance(1, 6)) put(at, Trouble::kCrashResizing);
    }
  }

  void foreignPods() {
    const int count = static_cast<int>(rng_.below(4));
    for (int i = 0; i < count; ++i) {
      add(moment(), Trouble::kForeignPod, static_cast<int>(1 << rng_.below(4)));
    }
  }

  void trouble() {
    const milliseconds at = moment();
    const milliseconds later = at + milliseconds(rng_.between(500, 12'000));
    switch (rng_.below(16)) {
      case 0: return add(at, Trouble::kDeleteJob);
      case 1: return add(at, Trouble::kRecreateJob);
      case 2:
        pick_ = rng_.next();
        put(at, Trouble::kSuspendJob);
        if (rng_.chance(1, 2))
          put(at + (later - at) / 2, Trouble::kEditJob, static_cast<int>(rng_.between(1, 4)));
        return put(later, Trouble::kResumeJob);
      case 3: return add(at, Trouble::kScaleJob, static_cast<int>(rng_.between(1, 4)));
      case 4: return add(at, Trouble::kDeleteMember);
      case 5: return add(at, Trouble::kTakeName);
      case 6: return pair(at, Trouble::kDeleteNode, later, Trouble::kReturnNode);
      case 7: return pair(at, Trouble::kCordon, later, Trouble::kUncordon);
      case 8: return pair(at, Trouble::kKubeletDown, later + milliseconds(6'000), Trouble::kKubeletUp);
      case 9: return pair(at, Trouble::kNoGpus, later, Trouble::kGpusBack);
      case 10: return pair(at, Trouble::kTaint, later, Trouble::kUntaint);
      case 11: return pair(at, Trouble::kExtenderDown, later, Trouble::kExtenderUp);
      case 12: return add(at, rng_.chance(1, 2) ? Trouble::kCrash : Trouble::kStop);
      case 13: return add(at, Trouble::kPause, static_cast<int>(rng_.between(2, 20)));
      case 14: return add(at, Trouble::kEndWatches);
      default: return add(at, Trouble::kCompact);
    }
  }

  void pair(milliseconds at, Trouble first, milliseconds later, Trouble second) {
    pick_ = rng_.next();
    put(at, first);
    put(later, second);
  }

  void add(milliseconds at, Trouble kind, int amount = 0) {
    pick_ = rng_.next();
    put(at, kind, amount);
  }

  void put(milliseconds at, Trouble kind, int amount = 0) {
    scenario_.troubles.push_back({at, kind, pick_, amount});
  }

  // One call of one step surely meets one fault, in turn over all pairs; further faults are random.
  void odds() {
    FaultOdds& odds = scenario_.odds;
    static constexpr int kRates[] = {0, 2, 10, 30};
    const int rate = kRates[rng_.below(4)];
    for (int& perMille : odds.perMille) perMille = rng_.chance(1, 3) ? 0 : rate;
    for (const Fault rare : {Fault::kCrashBefore, Fault::kCrashAfter, Fault::kStall, Fault::kPause}) {
      odds.perMille[static_cast<std::size_t>(rare)] /= 4;
    }
    std::vector<FaultTarget> pairs;
    for (int fault = 0; fault < kFaults; ++fault) {
      for (int step = 0; step < (options_.owners ? kSteps : kStepsWithoutOwners); ++step) {
        const FaultTarget target{static_cast<Step>(step), static_cast<Fault>(fault), 1};
        if (applies(target.fault, target.step)) pairs.push_back(target);
      }
    }
    FaultTarget target = pairs[scenario_.seed % pairs.size()];
    if (stopsOperator(target.fault) && isStart(target.step)) {
      // The successor finds a node unusable that was usable at the reservation.
      oneStart(3);
      put(milliseconds(200), Trouble::kCordonStarting);
    }
    if (target.fault == Fault::kStall && target.step == Step::kCreateMember) {
      // A pod that arrives long after its attempt was aborted.
      oneStart(3);
      put(milliseconds(5'000), Trouble::kSuspendJob);
      pick_ = 1;
      put(milliseconds(4'000), Trouble::kCrash);
      odds.targets.push_back(target);
      return;
    }
    if (!provoke(target.step)) target.occurrence = static_cast<int>(rng_.between(1, 3));
    odds.targets.push_back(target);
  }

  static bool stopsOperator(Fault fault) {
    return fault == Fault::kCrashBefore || fault == Fault::kCrashAfter || fault == Fault::kPause;
  }
  static bool isStart(Step step) { return step >= Step::kAddFinalizer && step <= Step::kCreateMember; }

  // The first job runs long, and its start is the first one of the run.
  void oneStart(int workers) {
    arranged_ = true;
    JobPlan& plan = scenario_.jobs.front();
    plan.submitAt = milliseconds(200);
    plan.runFor = milliseconds(15'000);
    plan.roles = {{"worker", workers, 1}};
    plan.required.clear();
    plan.elastic = false;
    scenario_.length = std::max(scenario_.length, milliseconds(25'000));
    pick_ = 0;
  }

  // Makes a step occur that is rare in random scenarios; returns false for a step that every scenario has.
  bool provoke(Step step) {
    const auto first = [&](Step of, Fault fault) { scenario_.odds.targets.push_back({of, fault, 1}); };
    switch (step) {
      case Step::kClaim:
      case Step::kClaimed:
        oneStart(3);
        scenario_.odds.perMille.fill(0);
        pick_ = scenario_.jobs.size() * rng_.below(3);
        // Without other faults, because few scenarios would come this far. Three times, because a member that
        // is just starting aborts the attempt instead.
        for (const int at : {4'000, 8'000, 12'000})
          put(milliseconds(at + rng_.between(0, 2'000)), Trouble::kDeleteMember);
        return true;
      case Step::kAbort:
      case Step::kDropProposal: {
        oneStart(4);
        const milliseconds at(200);
        put(at, Trouble::kSuspendStarting);
        put(at + milliseconds(6'000), Trouble::kResumeJob);
        return true;
      }
      case Step::kAllBound:
      case Step::kNotifyMember: {
        oneStart(3);
        JobPlan& plan = scenario_.jobs.front();
        plan.elastic = true;
        plan.resizes = ResizePlan::kNotified;
        scenario_.odds.perMille.fill(0);
        pick_ = 0;
        put(milliseconds(4'000), Trouble::kScaleJob, 5);
        put(milliseconds(9'000), Trouble::kScaleJob, 2);
        return true;
      }
      case Step::kDeletePod:
      case Step::kRemoveFinalizer:
        oneStart(2);
        put(milliseconds(3'000), Trouble::kDeleteJob);
        return true;
      case Step::kForceDelete:
        oneStart(2);
        put(milliseconds(3'000), Trouble::kMemberKubeletDown);
        put(milliseconds(4'500), Trouble::kDeleteJob);
        return true;
      case Step::kReadJob:
        first(Step::kReserve, rng_.chance(1, 2) ? Fault::kLoseReply : Fault::kConflict);
        return true;
      case Step::kReadPod:
        oneStart(3);
        // The pod must not be visible before it is created again.
        scenario_.watchLag = std::chrono::microseconds(400'000);
        first(Step::kCreateMember, Fault::kLoseReply);
        return true;
      case Step::kReadOwned:
        oneStart(3);
        first(Step::kCreateService, Fault::kLoseReply);
        return true;
      case Step::kWatchOthers:
        for (int i = 0; i < 4; ++i) add(milliseconds(500 + i * 700), Trouble::kNewQueue);
        return true;
      default: return false;
    }
  }

  base::Rng rng_;
  base::Rng wishes_;
  base::Rng lent_;
  base::Rng owners_;
  const DrawOptions options_;
  Scenario scenario_;
  std::uint64_t pick_ = 0;
  bool arranged_ = false;
};

}  // namespace

Scenario drawScenario(std::uint64_t seed, const DrawOptions& options) { return Draw(seed, options).run(); }

}  // namespace trainyard::simulation
