#include "core/place/relaxation.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/place/packer.h"
#include "core/place/problem.h"

namespace trainyard::core {
namespace {

using std::chrono::milliseconds;

milliseconds times(milliseconds each, std::int64_t count) {
  return milliseconds(base::saturatingMultiply(each.count(), count));
}

milliseconds plus(milliseconds a, milliseconds b) {
  return milliseconds(base::saturatingAdd(a.count(), b.count()));
}

milliseconds fromSeconds(std::chrono::seconds seconds) {
  return milliseconds(base::saturatingMultiply(seconds.count(), 1000));
}

// The given fraction of the estimate: seconds times permille is milliseconds.
milliseconds shareOf(std::chrono::seconds estimate, int permille) {
  return milliseconds(base::saturatingMultiply(estimate.count(), permille));
}

milliseconds statedHoldOut(const RelaxationInput& input, const model::RelaxationPolicy& policy) {
  milliseconds wait = plus(policy.base, times(policy.perGpu, input.gpus));
  if (input.estimatedDuration) {
    wait = std::max(wait, shareOf(*input.estimatedDuration, policy.permilleOfEstimate));
  }
  return std::min(wait, policy.cap);
}

// The total wait of a job that lists no levels.
milliseconds unstatedHoldOut(const RelaxationInput& input, const model::RelaxationPolicy& policy,
                             std::size_t nodeLevel) {
  if (input.attainable == nodeLevel || input.gpus == 0) return milliseconds(0);
  milliseconds wait = times(policy.perGpu, input.gpus);
  if (input.estimatedDuration) {
    wait = std::max(wait, shareOf(*input.estimatedDuration, policy.permilleOfEstimate));
    wait = std::min(wait, shareOf(*input.estimatedDuration, kSpreadCostPermille));
  }
  wait = std::min(wait, policy.cap);
  return wait < kMinHoldOut ? milliseconds(0) : wait;
}

// Keeps steps strictly later and wider: among steps at the same time the widest counts.
void addStep(std::vector<RelaxationStep>& steps, RelaxationStep step) {
  if (!steps.empty() && step.widest >= steps.back().widest) return;
  if (!steps.empty() && step.after <= steps.back().after) {
    steps.back().widest = step.widest;
    return;
  }
  steps.push_back(step);
}

// The widest level, not beyond `bound`, that has the same domains as `level`.
std::size_t widestEqual(std::size_t level, std::size_t bound, const Domains& domains) {
  const auto& levels = domains.levels();
  while (level > bound && levels[level - 1].domains == levels[level].domains) --level;
  return level;
}

}  // namespace

std::vector<RelaxationStep> relaxationSteps(const RelaxationInput& input,
                                            const model::RelaxationPolicy& policy, const Domains& domains) {
  const model::Locality& locality = *input.locality;
  const std::size_t bound = locality.required.empty() ? 0 : domains.findLevel(locality.required).value_or(0);
  std::vector<RelaxationStep> steps;
  milliseconds after(0);
  for (const model::LocalityLevel& each : locality.levels) {
    const auto level = domains.findLevel(each.level);
    if (!level) continue;
    addStep(steps, {after, std::max(*level, bound)});
    const milliseconds wait = each.wait ? fromSeconds(*each.wait) : statedHoldOut(input, policy);
    after = plus(after, std::max(wait, milliseconds(0)));
  }
  if (!steps.empty()) {
    addStep(steps, {after, bound});
    return steps;
  }

  const std::size_t first = std::max(input.attainable, bound);
  const milliseconds holdOut = std::max(unstatedHoldOut(input, policy, domains.nodeLevel()), milliseconds(0));
  const auto levels = static_cast<std::int64_t>(first - bound);
  for (std::int64_t i = 0; i <= levels; ++i) {
    const milliseconds from = levels == 0 ? milliseconds(0) : times(holdOut / levels, i);
    const std::size_t level = widestEqual(first - static_cast<std::size_t>(i), bound, domains);
    // The tighter of two names is more precise, but "in one rack" means nothing if the cluster is one rack.
    if (i == 0)
      addStep(steps, {from, level == 0 ? 0 : first});
    else if (level != widestEqual(first, bound, domains))
      addStep(steps, {from, level});
  }
  return steps;
}

Relaxation relaxationAt(const std::vector<RelaxationStep>& steps, milliseconds waited) {
  Relaxation relaxation{steps.front().widest, std::nullopt};
  for (const RelaxationStep& step : steps) {
    if (step.after > std::max(waited, milliseconds(0))) {
      relaxation.next = step;
      break;
    }
    relaxation.widest = step.widest;
  }
  return relaxation;
}

std::size_t tightestAttainable(const PlaceRequest& request, const Ledger& ledger, const Domains& domains) {
  const PlaceProblem problem(request, ledger, domains, PlaceProblem::Capacity::kWithoutJobs);
  const std::string& required = request.job->spec.locality.required;
  const std::size_t bound = required.empty() ? 0 : domains.findLevel(required).value_or(0);
  if (problem.kinds().empty()) return bound;
  Packer packer(problem);
  for (std::size_t level = domains.nodeLevel(); level > bound; --level) {
    if (packer.holdsAtLevel(level)) return level;
  }
  return bound;
}

}  // namespace trainyard::core
