#include "core/order/order_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace trainyard::core {
namespace {

// Large jobs block the cluster less than their GPUs say: they are placed in whole nodes, small ones leave
// holes.
constexpr double kGpuExponent = 0.85;
// Jobs of unknown length are taken to end about as late again as they are old, an hour at first.
constexpr double kYoung = 3'600;
// Neighbours' run times in public traces spread by that much about what they teach.
constexpr double kToldApart = 3;
constexpr double kUnknown = std::numeric_limits<double>::infinity();

double seconds(std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); }

double gpusOf(const OrderView& job) { return static_cast<double>(std::max<std::int64_t>(job.gpus, 1)); }

double attained(const OrderView& job, const std::vector<std::int64_t>& limits) {
  const double service = seconds(job.ran) * gpusOf(job);
  double reached = 0;
  for (const std::int64_t limit : limits) {
    if (service >= static_cast<double>(limit)) reached = static_cast<double>(limit);
  }
  return reached;
}

// What a second of all its GPUs counts.
double weightOf(const OrderView& job, model::Ordering ordering) {
  switch (ordering) {
    case model::Ordering::kSrtf: return 1;
    case model::Ordering::kDefault: return job.remaining ? std::pow(gpusOf(job), kGpuExponent) : gpusOf(job);
    case model::Ordering::kFifo:
    case model::Ordering::kLas:
    case model::Ordering::kSrsf: break;
  }
  return gpusOf(job);
}

double expectedOf(const OrderView& job, const OrderSettings& settings) {
  const double weight = weightOf(job, settings.ordering);
  const double left = job.remaining ? seconds(*job.remaining) * weight : kUnknown;
  switch (settings.ordering) {
    case model::Ordering::kFifo: return 0;
    case model::Ordering::kLas: return attained(job, settings.lasLimits);
    case model::Ordering::kSrtf:
    case model::Ordering::kSrsf: return left;
    case model::Ordering::kDefault: break;
  }
  if (job.remaining) return left;
  return weight / job.gittinsIndex.value_or(1 / std::max(seconds(job.ran), kYoung));
}

}  // namespace

bool Rank::before(const Rank& other) const {
  if (priority != other.priority) return priority > other.priority;
  if (expected != other.expected) return expected < other.expected;
  if (running != other.running) return running;
  return std::tie(submitted, *key) < std::tie(other.submitted, *other.key);
}

Rank rankOf(const OrderView& job, const OrderSettings& settings) {
  return {.priority = job.priority,
          .expected = expectedOf(job, settings),
          .stopCost = seconds(job.stopCost) * weightOf(job, settings.ordering),
          .learnt = settings.ordering == model::Ordering::kDefault && !job.remaining,
          .running = job.running,
          .submitted = job.submitted,
          .key = job.key};
}

bool worthAStop(const Rank& waiting, const Rank& running) {
  const double apart = waiting.learnt || running.learnt ? kToldApart : 1;
  return waiting.expected * apart + running.stopCost < running.expected;
}

}  // namespace trainyard::core
