#include "core/order/order_policy.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/order/orderings/orderings.h"

namespace trainyard::core {
namespace {

// In public traces, run times spread by this factor around the estimate from neighbours.
constexpr double kLearntFactor = 3;

orderings::Measure measure(const OrderView& job, const OrderSettings& settings) {
  switch (settings.ordering) {
    case model::Ordering::kFifo: return orderings::fifo(job, settings);
    case model::Ordering::kLas: return orderings::las(job, settings);
    case model::Ordering::kSrtf: return orderings::srtf(job, settings);
    case model::Ordering::kSrsf: return orderings::srsf(job, settings);
    case model::Ordering::kDefault: return orderings::byDefault(job, settings);
  }
  return {};
}

}  // namespace

double orderings::gpusOf(const OrderView& job) {
  return static_cast<double>(std::max<std::int64_t>(job.gpus, 1));
}

double orderings::seconds(std::chrono::microseconds time) {
  return std::chrono::duration<double>(time).count();
}

bool QueuePosition::before(const QueuePosition& other) const {
  if (priority != other.priority) return priority > other.priority;
  if (expected != other.expected) return expected < other.expected;
  if (running != other.running) return running;
  return std::tie(submitted, *key) < std::tie(other.submitted, *other.key);
}

QueuePosition queuePositionOf(const OrderView& job, const OrderSettings& settings) {
  const auto& traits = model::traitsOf(settings.ordering);
  orderings::Measure measured = measure(job, settings);
  if (job.isUnbounded && (traits.byEstimate || traits.learns))
    measured.expected = std::numeric_limits<double>::infinity();
  return {.priority = job.priority,
          .expected = measured.expected,
          .preemptionCost = orderings::seconds(job.preemptionCost) * measured.perSecond,
          .learnt = traits.learns && !job.remaining,
          .running = job.running,
          .submitted = job.submitted,
          .key = job.key};
}

bool worthPreempting(const QueuePosition& waiting, const QueuePosition& running) {
  const double apart = waiting.learnt || running.learnt ? kLearntFactor : 1;
  return waiting.expected * apart + running.preemptionCost < running.expected;
}

}  // namespace trainyard::core
