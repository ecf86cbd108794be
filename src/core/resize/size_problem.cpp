#include "core/resize/size_problem.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace trainyard::core {
namespace {

using Job = SizeProblem::Job;

constexpr std::int64_t kWhole = 1'000'000'000;

// The capacity of each kind that elastic members can use: what is free, and what they already use.
std::vector<std::int64_t> capacityOf(const SizeProblem& problem) {
  std::vector<std::int64_t> available(problem.kinds, 0);
  for (std::size_t i = 0; i < problem.free.size(); ++i)
    available[i % problem.kinds] += std::max<std::int64_t>(problem.free[i], 0);
  for (const Job& job : problem.jobs) {
    for (std::size_t k = 0; k < problem.kinds; ++k) available[k] += job.demand[k] * job.present;
  }
  return available;
}

// One step up the concave hull of a job's gains.
struct Rise {
  double gain = 0;
  double need = 0;
};

std::vector<Rise> hullOf(const Job& job, std::int64_t demand) {
  std::vector<int> hull;
  const auto slope = [&](int a, int b) {
    return static_cast<double>(gainOf(job, b) - gainOf(job, a)) / (b - a);
  };
  for (int size = job.minimum; size <= job.most; ++size) {
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), size))
      hull.pop_back();
    hull.push_back(size);
  }
  std::vector<Rise> rises;
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const auto gain = static_cast<double>(gainOf(job, hull[i]) - gainOf(job, hull[i - 1]));
    if (gain <= 0) break;
    rises.push_back({gain, static_cast<double>(demand) * (hull[i] - hull[i - 1])});
  }
  return rises;
}

double boundByKind(const SizeProblem& problem, std::size_t kind, std::int64_t available) {
  double sum = 0;
  auto left = static_cast<double>(available);
  std::vector<Rise> rises;
  for (const Job& job : problem.jobs) {
    sum += static_cast<double>(gainOf(job, job.minimum));
    left -= static_cast<double>(job.demand[kind]) * job.minimum;
    for (const Rise& each : hullOf(job, job.demand[kind])) {
      if (each.need <= 0) {
        sum += each.gain;
      } else {
        rises.push_back(each);
      }
    }
  }
  std::sort(rises.begin(), rises.end(),
            [](const Rise& a, const Rise& b) { return a.gain * b.need > b.gain * a.need; });
  for (const Rise& each : rises) {
    if (left <= 0) break;
    const double part = std::min(left / each.need, 1.0);
    sum += each.gain * part;
    left -= each.need * part;
  }
  return sum;
}

std::int64_t boundByTouches(const SizeProblem& problem) {
  std::int64_t sum = 0;
  std::vector<std::int64_t> gains;
  for (const Job& job : problem.jobs) {
    const std::int64_t present = gainOf(job, job.present);
    std::int64_t best = present;
    for (int size = job.minimum; size <= job.most; ++size) best = std::max(best, gainOf(job, size));
    sum += present;
    gains.push_back(best - present);
  }
  std::sort(gains.begin(), gains.end(), std::greater<>());
  const auto touched = std::min(gains.size(), static_cast<std::size_t>(std::max(problem.maxTouched, 0)));
  for (std::size_t i = 0; i < touched; ++i) sum += gains[i];
  return sum;
}

}  // namespace

std::int64_t dominantShare(const SizeProblem& problem, const Job& job) {
  std::int64_t share = 0;
  for (std::size_t k = 0; k < problem.kinds; ++k) {
    if (problem.capacity[k] <= 0) continue;
    share = std::max(share, static_cast<std::int64_t>(static_cast<double>(job.demand[k]) * kWhole /
                                                      static_cast<double>(problem.capacity[k])));
  }
  return share;
}

std::vector<int> fairSizes(const SizeProblem& problem) {
  std::vector<std::int64_t> available = capacityOf(problem);
  using Turn = std::tuple<double, std::size_t>;  // share by weight, job
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  std::vector<int> sizes;
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
    const Job& job = problem.jobs[i];
    sizes.push_back(job.minimum);
    for (std::size_t k = 0; k < problem.kinds; ++k) available[k] -= job.demand[k] * job.minimum;
    const double part = static_cast<double>(dominantShare(problem, job)) / static_cast<double>(job.weight);
    turns.emplace(part * job.minimum, i);
  }
  while (!turns.empty()) {
    const auto [share, index] = turns.top();
    turns.pop();
    const Job& job = problem.jobs[index];
    if (sizes[index] >= job.most) continue;
    bool fits = true;
    for (std::size_t k = 0; k < problem.kinds; ++k) fits = fits && job.demand[k] <= available[k];
    if (!fits) continue;
    for (std::size_t k = 0; k < problem.kinds; ++k) available[k] -= job.demand[k];
    ++sizes[index];
    turns.emplace(share + static_cast<double>(dominantShare(problem, job)) / static_cast<double>(job.weight),
                  index);
  }
  return sizes;
}

std::int64_t fairnessLoss(const SizeProblem& problem, const std::vector<int>& fair,
                          const std::vector<int>& sizes) {
  std::int64_t loss = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    loss += dominantShare(problem, problem.jobs[i]) * std::abs(sizes[i] - fair[i]);
  return loss;
}

std::int64_t boundOf(const SizeProblem& problem) {
  auto bound = static_cast<double>(boundByTouches(problem));
  const std::vector<std::int64_t> available = capacityOf(problem);
  for (std::size_t k = 0; k < problem.kinds; ++k)
    bound = std::min(bound, boundByKind(problem, k, available[k]));
  return static_cast<std::int64_t>(bound);
}

}  // namespace trainyard::core
