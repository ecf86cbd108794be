#include "simulation/owner_draw.h"

#include <algorithm>

namespace trainyard::simulation {
namespace {

using std::chrono::milliseconds;

class Owners {
 public:
  Owners(Scenario& scenario, base::Rng rng) : scenario_(scenario), rng_(rng) {}

  void run(bool keepsFirst) {
    scenario_.owners = true;
    for (std::size_t i = keepsFirst ? 1 : 0; i < scenario_.jobs.size(); ++i) {
      if (!scenario_.jobs[i].elastic && rng_.chance(2, 3)) make(scenario_.jobs[i]);
    }
    for (std::size_t i = 0; i < scenario_.jobs.size(); ++i) trouble(i);
    for (const FaultTarget& target : scenario_.odds.targets) {
      if (static_cast<int>(target.step) >= kStepsWithoutOwners) return arrange(target.step);
    }
  }

 private:
  void make(JobPlan& plan) {
    plan.owner = rng_.chance(2, 3) ? OwnerPlan::kJob : OwnerPlan::kReplicaSet;
    plan.roles.resize(1);
    plan.late = 0;
    plan.deadline = std::chrono::seconds(0);
    plan.inOrder = rng_.chance(1, 3);
    plan.startsRunning = rng_.chance(1, 4);
    plan.backoffLimit = rng_.chance(1, 4) ? 0 : 6;
    if (rng_.chance(1, 2)) plan.longerByIndex = milliseconds(rng_.between(200, 4'000));
    // What takes a moment is over before anything can happen to it.
    if (rng_.chance(1, 2)) plan.runFor += milliseconds(rng_.between(1'000, 6'000));
  }

  void trouble(std::size_t number) {
    const JobPlan& plan = scenario_.jobs[number];
    if (plan.owner == OwnerPlan::kNone) return;
    const milliseconds at = plan.submitAt + milliseconds(rng_.between(0, 5'000));
    const milliseconds later = at + milliseconds(rng_.between(300, 6'000));
    const auto pods = static_cast<int>(rng_.between(0, 5));
    switch (rng_.below(6)) {
      case 0: put(number, at, Trouble::kHoldGang); return put(number, later, Trouble::kReleaseGang);
      case 1: return put(number, at, Trouble::kDeleteMember);
      case 2:
        put(number, at, Trouble::kScaleOwner, std::max(pods, 1));
        if (rng_.chance(1, 2)) put(number, later, Trouble::kScaleOwner, plan.roles.front().replicas);
        return;
      case 3:
        put(number, at, Trouble::kSuspendJob);
        if (rng_.chance(1, 2)) put(number, later, Trouble::kResumeJob);
        return;
      default: return;
    }
  }

  // One Job or ReplicaSet that runs long, and what makes the step occur.
  void arrange(Step step) {
    JobPlan& plan = scenario_.jobs.front();
    plan.submitAt = milliseconds(200);
    plan.runFor = milliseconds(15'000);
    plan.roles = {{"worker", 3, 1}};
    plan.required.clear();
    plan.elastic = false;
    plan.owner = step == Step::kEvict || step == Step::kDeleteGang ? OwnerPlan::kReplicaSet : OwnerPlan::kJob;
    plan.backoffLimit = 6;
    scenario_.length = std::max(scenario_.length, milliseconds(25'000));
    const milliseconds first(rng_.between(3'000, 5'000));
    const milliseconds second(rng_.between(7'000, 9'000));
    if (step == Step::kSuspendOwner || step == Step::kEvict) {
      put(0, first, Trouble::kHoldGang);
      put(0, second, Trouble::kReleaseGang);
    } else if (step == Step::kDeleteGang) {
      put(0, first, Trouble::kScaleOwner, 0);
    } else if (step == Step::kChangeGang) {
      put(0, first, Trouble::kScaleOwner, 4);
      put(0, second, Trouble::kScaleOwner, 2);
    } else {
      return;
    }
    scenario_.odds.perMille.fill(0);
  }

  void put(std::size_t job, milliseconds at, Trouble kind, int amount = 0) {
    // The pick's other bits choose among pods, and the way to stop an owner.
    const std::uint64_t turns = rng_.below(1'000);
    scenario_.troubles.push_back({at, kind, job + scenario_.jobs.size() * turns, amount});
  }

  Scenario& scenario_;
  base::Rng rng_;
};

}  // namespace

void drawOwners(Scenario& scenario, base::Rng rng, bool keepsFirst) { Owners(scenario, rng).run(keepsFirst); }

}  // namespace trainyard::simulation
