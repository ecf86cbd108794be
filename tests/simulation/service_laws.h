#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "sim/cluster/observer.h"
#include "simulation/scenario.h"

namespace trainyard::simulation {

// Checks when pending jobs start (docs/preemption.md, "What is promised"), while no fault occurs and jobs
// that never end hold lent capacity:
//  - a gang of single GPUs within its queue's guarantee starts within minRuntime + grace + 10 s
//  - the holder of a reservation starts within the larger of minRuntime and reservationLimit + grace + 10 s
//    after the last start of another gang, once all that run have started after its reservation, in its
//    queue, and may be preempted. Only with `ordering: fifo`: under the others a job that is served first
//    may run as long as expected
// Written down without the product's help, and narrower than the page: what is not certain is no violation.
class ServiceLaws {
 public:
  using Violated = std::function<void(std::string)>;
  ServiceLaws(const Scenario& scenario, sim::ClusterObserver& truth, Violated violated)
      : scenario_(scenario), truth_(truth), violated_(std::move(violated)) {}

  void look(base::WallTime now);

 private:
  using Job = model::Job;
  [[nodiscard]] bool waits(const Job& job) const;
  [[nodiscard]] bool isGuaranteed(const Job& job) const;
  // The start of the holder's guarantee; nullopt if it does not apply.
  [[nodiscard]] std::optional<base::WallTime> holdsSince(const Job& job) const;
  [[nodiscard]] std::int64_t heldBelow(const std::string& queue, const Job& but) const;
  [[nodiscard]] bool isBelow(std::string queue, const std::string& above) const;
  [[nodiscard]] const QueuePlan* queueOf(const std::string& name) const;
  [[nodiscard]] bool anyForeignPod() const;

  const Scenario& scenario_;
  sim::ClusterObserver& truth_;
  Violated violated_;
  std::map<model::Uid, base::WallTime> guaranteedSince_;
  std::map<model::Uid, base::WallTime> heldSince_;
};

}  // namespace trainyard::simulation
