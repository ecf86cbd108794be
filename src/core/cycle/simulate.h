#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cycle/cycle.h"
#include "core/cycle/foresee.h"

namespace trainyard::core {

// What a job that nobody has submitted yet would meet with.
struct Forecast {
  enum class Outcome {
    kStarts,     // now, on `places`; `stops` have to go first, elsewhere or away
    kWaits,      // `pending` says why, `expected` until when
    kRefused,    // is not admitted: `pending` says why
    kSuspended,  // spec.run.suspend
    kLeftAlone,  // spec.run.managedBy somebody else
  };
  struct Stop {
    std::shared_ptr<const model::Job> job;
    std::int64_t lostGpuSeconds = 0;  // core/order/stop_cost.h
    std::string goesTo = {};          // "2 nodes in rack zone-a/block-1/rack-3"; empty: it waits again
  };
  std::shared_ptr<const model::Job> job;
  Outcome outcome = Outcome::kLeftAlone;
  std::vector<model::Assignment> places = {};
  std::string where = {};   // "4 nodes in rack zone-a/block-1/rack-3"
  std::string level = {};   // the tightest that holds them all: "rack"; "" for none
  std::string domain = {};  // its path: "zone-a/block-1/rack-3"
  std::vector<Stop> stops = {};
  std::optional<model::Pending> pending = std::nullopt;  // in the words of the operator
  std::size_t ahead = 0;                                 // jobs of its queue that are served before it
  std::size_t waiting = 0;                               // jobs that wait in its queue, itself included
  std::optional<Expectation> expected = std::nullopt;
};

// What one cycle of the operator on this snapshot would decide for `jobs`, were they submitted together now,
// and what is to come of those that would wait (core/cycle/foresee.h). `input.feedback` tells of them whether
// their templates are fine; those of everybody else count as checked, unless their status says otherwise. The
// answers are in the order of `jobs`; their keys are no job's of the snapshot, and differ.
[[nodiscard]] std::vector<Forecast> forecast(CycleInput input,
                                             const std::vector<std::shared_ptr<const model::Job>>& jobs);

}  // namespace trainyard::core
