#include "core/order/order_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace trainyard::core {
namespace {

constexpr double kFavourGuessed = 3;
constexpr double kFavourKnown = 1.1;
// Large jobs block the cluster less than their GPUs say: they are placed in whole nodes, small ones leave
// holes.
constexpr double kGpuExponent = 0.85;
// What is as good as over; keeps merits finite.
constexpr double kShortest = 1e-6;
// Jobs of unknown length are taken to end about as late again as they are old, an hour at first.
constexpr double kYoung = 3'600;

double seconds(std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); }

double gpusOf(const OrderView& job) { return static_cast<double>(std::max<std::int64_t>(job.gpus, 1)); }

double leastAttained(const OrderView& job, const std::vector<std::int64_t>& limits) {
  const double service = seconds(job.ran) * gpusOf(job);
  const auto reached = std::count_if(limits.begin(), limits.end(), [&](std::int64_t limit) {
    return service >= static_cast<double>(limit);
  });
  return -static_cast<double>(reached);
}

double ownDefault(const OrderView& job) {
  if (job.remaining) {
    const double left = std::max(seconds(*job.remaining), kShortest);
    return (job.running ? kFavourKnown : 1) / (left * std::pow(gpusOf(job), kGpuExponent));
  }
  const double rate = job.gittinsIndex.value_or(1 / std::max(seconds(job.ran), kYoung));
  return (job.running ? kFavourGuessed : 1) * rate / gpusOf(job);
}

double meritOf(const OrderView& job, const OrderSettings& settings) {
  switch (settings.ordering) {
    case model::Ordering::kFifo: return 0;
    case model::Ordering::kLas: return leastAttained(job, settings.lasLimits);
    case model::Ordering::kSrtf: return job.remaining ? 1 / std::max(seconds(*job.remaining), kShortest) : 0;
    case model::Ordering::kSrsf:
      return job.remaining ? 1 / (std::max(seconds(*job.remaining), kShortest) * gpusOf(job)) : 0;
    case model::Ordering::kDefault: return ownDefault(job);
  }
  return 0;
}

}  // namespace

bool Rank::before(const Rank& other) const {
  if (priority != other.priority) return priority > other.priority;
  if (merit != other.merit) return merit > other.merit;
  if (running != other.running) return running;
  return std::tie(submitted, *key) < std::tie(other.submitted, *other.key);
}

Rank rankOf(const OrderView& job, const OrderSettings& settings) {
  return {.priority = job.priority,
          .merit = meritOf(job, settings),
          .running = job.running,
          .submitted = job.submitted,
          .key = job.key};
}

std::vector<std::size_t> orderOfService(const std::vector<OrderView>& jobs, const OrderSettings& settings) {
  std::vector<Rank> ranks;
  ranks.reserve(jobs.size());
  for (const OrderView& job : jobs) ranks.push_back(rankOf(job, settings));
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ranks[a].before(ranks[b]); });
  return order;
}

}  // namespace trainyard::core
