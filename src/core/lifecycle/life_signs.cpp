#include "core/lifecycle/life_signs.h"

#include <algorithm>
#include <utility>

namespace trainyard::core {
namespace {

constexpr std::chrono::minutes kSpan{5};
// Ten years: in practice never, and far below where seconds overflow.
constexpr std::int64_t kLongest = std::int64_t{10} * 365 * 86'400;

}  // namespace

std::optional<base::WallTime> stallsAt(const model::HealthPolicy& health, base::WallTime last) {
  if (health.stall.count() <= 0) return std::nullopt;
  return last + health.stall;
}

bool wantsReports(const model::JobSpec& spec) {
  using enum model::CheckpointMode;
  const bool asked =
      spec.checkpoint && (spec.checkpoint->mode == kHelper || spec.checkpoint->mode == kLauncher);
  return asked || spec.health.stall.count() > 0 || spec.elastic.has_value() || spec.plan.automatic;
}

void StepRate::note(std::int64_t step, base::WallTime at) {
  // The program restarted, from a checkpoint or from nothing.
  if (last_ && (step < last_->step || at < last_->at)) older_ = newer_ = std::nullopt;
  last_ = Point{step, at};
  if (!older_) {
    older_ = newer_ = last_;
  } else if (at - newer_->at >= kSpan) {
    older_ = std::exchange(newer_, last_);
  }
}

std::optional<std::chrono::seconds> StepRate::remaining(std::int64_t total) const {
  if (!last_ || total <= last_->step) return last_ ? std::optional(std::chrono::seconds(0)) : std::nullopt;
  const std::int64_t steps = last_->step - older_->step;
  const auto time = std::chrono::duration_cast<std::chrono::seconds>(last_->at - older_->at).count();
  if (steps <= 0 || time <= 0) return std::nullopt;
  const double left =
      static_cast<double>(total - last_->step) / static_cast<double>(steps) * static_cast<double>(time);
  return std::chrono::seconds(left >= static_cast<double>(kLongest) ? kLongest
                                                                    : static_cast<std::int64_t>(left));
}

}  // namespace trainyard::core
