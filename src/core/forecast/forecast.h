#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cycle/cycle.h"
#include "core/forecast/foresee.h"

namespace trainyard::core {

// The expected result for a job that has not been submitted yet.
struct Forecast {
  enum class Outcome {
    kStarts,          // now, on `assignments`; the gangs in `stops` are preempted or moved first
    kWaits,           // `pending` is why, `expected` until when
    kRefused,         // not admitted: `pending` is why
    kSuspended,       // spec.run.suspend
    kManagedByOther,  // spec.managedBy names another controller
  };
  struct Stop {
    std::shared_ptr<const model::Job> job;
    std::int64_t lostGpuSeconds = 0;  // core/order/preemption_cost.h
    std::string goesTo = {};          // "2 nodes in rack zone-a/block-1/rack-3"; empty: it is pending again
  };
  std::shared_ptr<const model::Job> job;
  Outcome outcome = Outcome::kManagedByOther;
  std::vector<model::Assignment> assignments = {};
  std::string where = {};   // "4 nodes in rack zone-a/block-1/rack-3"
  std::string level = {};   // the tightest that holds them all: "rack"; "" for none
  std::string domain = {};  // its path: "zone-a/block-1/rack-3"
  std::vector<Stop> stops = {};
  std::optional<model::Pending> pending = std::nullopt;  // as the operator reports it
  std::size_t ahead = 0;                                 // jobs of its queue that are served before it
  std::size_t waiting = 0;                               // pending jobs in its queue, itself included
  std::optional<Expectation> expected = std::nullopt;
};

// Returns what one operator cycle would decide for `jobs` if all were submitted now, and what is expected of
// the pending ones (core/forecast/foresee.h). `input.feedback` states whether their templates are valid.
// Templates of all other jobs count as checked, unless their status reports otherwise. The answers are in the
// order of `jobs`, which have keys that are unique and not in the snapshot.
[[nodiscard]] std::vector<Forecast> forecast(CycleInput input,
                                             const std::vector<std::shared_ptr<const model::Job>>& jobs);

}  // namespace trainyard::core
