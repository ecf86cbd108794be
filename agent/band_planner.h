#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/network/bands.h"

namespace trainyard::agent {

// The bands of the jobs that share a link. Keeps the last question and its answer: the fluid model costs
// milliseconds, and the question rarely changes.
class BandPlanner {
 public:
  BandPlanner(core::BandPolicy policy, std::chrono::seconds turn) : policy_(policy), turn_(turn) {}

  const core::BandPlan& plan(std::vector<core::RankedJob> jobs, std::uint64_t bytesPerSecond,
                             base::WallTime now);
  // Until the next turn; nullopt if the last plan has no turns.
  [[nodiscard]] std::optional<base::Instant::duration> untilNextTurn(base::WallTime now) const;

 private:
  core::BandPolicy policy_;
  std::chrono::seconds turn_;
  core::BandQuestion question_;
  core::BandPlan bands_;
};

}  // namespace trainyard::agent
