#include "simulation/contention_draw.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace trainyard::simulation {
namespace {

using std::chrono::milliseconds;

class Contention {
 public:
  Contention(Scenario& scenario, base::Rng rng) : scenario_(scenario), rng_(rng) {}

  void run() {
    policy();
    queues();
    const int more = static_cast<int>(rng_.between(1, 4));
    for (int i = 0; i < more; ++i) anotherJob();
    for (JobPlan& plan : scenario_.jobs) rankJob(plan);
    if (rng_.chance(1, 4)) scenario_.defaultCpus = static_cast<int>(rng_.between(2, 7));
  }

 private:
  [[nodiscard]] int clusterGpus() const { return scenario_.nodes * scenario_.gpusOnNode; }

  // Short time slices and bounds: what takes minutes in a cluster must happen within a scenario.
  void policy() {
    model::Policy& policy = scenario_.policy;
    policy.preemption.minRuntime = milliseconds(rng_.between(300, 3'000));
    policy.defragmentation.gainPermille = 1'000;
    // srsf stands for srtf, which ignores the number of GPUs.
    std::vector<model::Ordering> orderings;
    for (const model::OrderingTraits& each : model::kOrderings) {
      if (each.ordering != model::Ordering::kSrtf) orderings.push_back(each.ordering);
    }
    policy.ordering = orderings[rng_.below(orderings.size())];
    policy.timeSlicing.enabled = rng_.chance(1, 3);
    policy.timeSlicing.interval = milliseconds(rng_.between(1'000, 4'000));
    policy.backfill.reservationLimit = milliseconds(rng_.between(1'000, 60'000));
  }

  // Guarantees never exceed the cluster: an administrator could not keep such guarantees.
  void queues() {
    const int count = static_cast<int>(rng_.below(4));
    int left = clusterGpus();
    for (int i = 0; i < count; ++i) {
      QueuePlan queue;
      queue.name = fmt::format("team-{}", i);
      // No limit of a queue is below the guarantees of its children.
      if (i > 0 && !scenario_.queues.front().limit && rng_.chance(1, 3)) queue.parent = "team-0";
      queue.weight = static_cast<int>(rng_.between(1, 3));
      if (rng_.chance(2, 3)) queue.guaranteed = static_cast<int>(rng_.between(0, std::max(left / 2, 0)));
      left -= queue.guaranteed;
      if (rng_.chance(1, 3)) queue.limit = static_cast<int>(rng_.between(queue.guaranteed, clusterGpus()));
      queue.reclaim = !rng_.chance(1, 6);
      queue.withinQueue = !rng_.chance(1, 6);
      scenario_.queues.push_back(std::move(queue));
    }
  }

  void anotherJob() {
    JobPlan plan;
    plan.name = fmt::format("j{}", scenario_.jobs.size());
    plan.submitAt = milliseconds(rng_.between(0, scenario_.length.count() * 2 / 3));
    plan.runFor = milliseconds(rng_.between(2'000, 10'000));
    plan.restartWhole = rng_.chance(1, 2);
    // Half a node or more: a few of them fill the cluster.
    const int gpus = scenario_.gpusOnNode >> rng_.below(2);
    plan.roles.push_back({"worker", static_cast<int>(rng_.between(1, scenario_.nodes)), gpus});
    scenario_.jobs.push_back(std::move(plan));
  }

  void rankJob(JobPlan& plan) {
    static constexpr const char* kPriorities[] = {"", "low", "middle", "high"};
    plan.priority = kPriorities[rng_.below(4)];
    plan.preemptible = !rng_.chance(1, 6);
    const std::uint64_t queue = rng_.below(scenario_.queues.size() + 1);
    if (queue < scenario_.queues.size()) plan.queue = scenario_.queues[queue].name;
    if (rng_.chance(1, 3)) {
      plan.estimate =
          std::max(std::chrono::seconds(1), std::chrono::duration_cast<std::chrono::seconds>(plan.runFor) +
                                                std::chrono::seconds(rng_.between(-2, 2)));
    }
  }

  Scenario& scenario_;
  base::Rng rng_;
};

}  // namespace

void drawContention(Scenario& scenario, base::Rng rng) { Contention(scenario, rng).run(); }

}  // namespace trainyard::simulation
