#include "agent/band_planner.h"

#include <utility>

namespace trainyard::agent {

const core::BandPlan& BandPlanner::plan(std::vector<core::RankedJob> jobs, std::uint64_t bytesPerSecond,
                                        base::WallTime now) {
  // The time is rounded to whole turns, so that the question stays equal, and its answer valid, for a turn.
  core::BandQuestion question{.policy = policy_,
                              .bytesPerSecond = static_cast<std::int64_t>(bytesPerSecond),
                              .now = now - now.time_since_epoch() % turn_,
                              .turn = turn_,
                              .lastOrder = bands_.order};
  question.jobs = std::move(jobs);
  if (question != question_) {
    bands_ = core::planBands(question);
    question.lastOrder = bands_.order;
    question_ = std::move(question);
  }
  return bands_;
}

std::optional<base::Instant::duration> BandPlanner::untilNextTurn(base::WallTime now) const {
  if (policy_ != core::BandPolicy::kRoundRobin && bands_.discipline != core::Discipline::kRotate)
    return std::nullopt;
  return std::chrono::duration_cast<base::Instant::duration>(turn_ - now.time_since_epoch() % turn_) +
         std::chrono::milliseconds(1);
}

}  // namespace trainyard::agent
