#include "core/resize/size_search.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "core/resize/size_packing.h"

namespace trainyard::core {
namespace {

using Job = SizeProblem::Job;

// The number of sizes of one job that a joint choice tries, if the job has more.
constexpr int kSizesLookedAt = 10;
// The numbers of growing and of giving jobs that are tried together.
constexpr std::size_t kWanting = 24;
constexpr std::size_t kGiving = 24;

class Search {
 public:
  Search(const SizeProblem& problem, std::int64_t work)
      : in_(problem), packing_(problem, work), fair_(fairSizes(problem)) {
    for (const Job& job : problem.jobs) {
      shares_.push_back(dominantShare(problem, job));
      value_ += gainOf(job, job.present);
    }
    loss_ = fairnessLoss(problem, fair_, packing_.sizes());
    maxLoss_ = std::max(problem.maxLoss, loss_);
  }

  SizeChoice run() {
    SizeChoice choice;
    choice.before = value_;
    rise();
    if (in_.jobs.size() <= kAllAtOnce) {
      std::vector<std::size_t> all(in_.jobs.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      for (const SizePacking::Way way : SizePacking::kWays) {
        packing_.choose(way);
        chooseAgain(all);
        std::reverse(all.begin(), all.end());
        chooseAgain(all);
      }
    } else {
      exchange();
    }
    choice.sizes = packing_.sizes();
    choice.value = value_;
    choice.bound = std::max(boundOf(in_), value_);
    choice.loss = loss_;
    choice.touched = touched_;
    return choice;
  }

 private:
  // --- sums

  [[nodiscard]] std::int64_t lossOf(std::size_t index, int size) const {
    return shares_[index] * std::abs(size - fair_[index]);
  }

  // Adds (sign 1) or subtracts (sign -1) the job's part of the sums at its current size.
  void count(std::size_t index, int sign) {
    const Job& job = in_.jobs[index];
    value_ += sign * gainOf(job, packing_.sizeOf(index));
    loss_ += sign * lossOf(index, packing_.sizeOf(index));
    touched_ += packing_.sizeOf(index) == job.present ? 0 : sign;
  }

  [[nodiscard]] bool allowed() const { return loss_ <= maxLoss_ && touched_ <= in_.maxTouched; }

  // --- step 1

  struct Rise {
    double density = 0;
    std::size_t job = 0;
    int to = 0;
    bool operator<(const Rise& other) const {
      return std::tuple(density, -static_cast<std::int64_t>(job)) <
             std::tuple(other.density, -static_cast<std::int64_t>(other.job));
    }
  };

  [[nodiscard]] std::optional<Rise> bestRise(std::size_t index, int most) const {
    const Job& job = in_.jobs[index];
    std::optional<Rise> best;
    const std::int64_t now = gainOf(job, packing_.sizeOf(index));
    for (int size = packing_.sizeOf(index) + 1; size <= most; ++size) {
      const std::int64_t gain = gainOf(job, size) - now;
      if (gain <= 0) continue;
      const double need =
          static_cast<double>(std::max<std::int64_t>(shares_[index], 1)) * (size - packing_.sizeOf(index));
      const double density = static_cast<double>(gain) / need;
      if (!best || density > best->density) best = Rise{density, index, size};
    }
    return best;
  }

  void rise() {
    std::priority_queue<Rise> rises;
    const auto push = [&](std::size_t index, int most) {
      if (const auto next = bestRise(index, most)) rises.push(*next);
    };
    for (std::size_t i = 0; i < in_.jobs.size(); ++i) push(i, in_.jobs[i].most);
    while (!rises.empty() && packing_.hasWork()) {
      const Rise next = rises.top();
      rises.pop();
      const int before = packing_.sizeOf(next.job);
      const std::int64_t gained = value_;
      count(next.job, -1);
      const bool all = packing_.growTo(next.job, next.to);
      count(next.job, 1);
      const bool good = value_ > gained && allowed();
      if (!good) {
        count(next.job, -1);
        packing_.shrinkTo(next.job, before);
        count(next.job, 1);
      }
      if (!all || !good) wanting_.push_back(next.job);
      if (good && all) push(next.job, in_.jobs[next.job].most);
    }
  }

  // --- step 2

  [[nodiscard]] std::vector<int> sizesLookedAt(std::size_t index) const {
    const Job& job = in_.jobs[index];
    std::vector<int> sizes;
    const int count = job.most - job.minimum + 1;
    for (int i = 0; i < std::min(count, kSizesLookedAt); ++i) {
      const int last = std::max(std::min(count, kSizesLookedAt) - 1, 1);
      sizes.push_back(job.minimum + static_cast<int>(static_cast<std::int64_t>(count - 1) * i / last));
    }
    for (const int each : {job.present, packing_.sizeOf(index), fair_[index], packing_.sizeOf(index) - 1,
                           packing_.sizeOf(index) + 1})
      sizes.push_back(std::clamp(each, job.minimum, job.most));
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  struct Best {
    std::int64_t value = 0;
    std::vector<int> sizes;
    std::vector<SizePacking::Added> added;
  };

  // Tries all combinations of sizes of these jobs and keeps the best one that is allowed.
  void chooseAgain(const std::vector<std::size_t>& jobs) {
    if (!packing_.hasWork()) return;
    Best best{value_, {}, {}};
    for (const std::size_t each : jobs) {
      best.sizes.push_back(packing_.sizeOf(each));
      best.added.push_back(packing_.addedOf(each));
    }
    std::vector<std::vector<int>> looked;
    std::vector<std::int64_t> most(jobs.size() + 1, 0);  // upper bound of the gain of the jobs from here on
    for (const std::size_t each : jobs) looked.push_back(sizesLookedAt(each));
    for (std::size_t i = jobs.size(); i-- > 0;) {
      std::int64_t highest = std::numeric_limits<std::int64_t>::min();
      for (const int size : looked[i]) highest = std::max(highest, gainOf(in_.jobs[jobs[i]], size));
      most[i] = most[i + 1] + highest;
    }
    for (const std::size_t each : jobs) {
      count(each, -1);
      packing_.shrinkTo(each, in_.jobs[each].minimum);
    }
    descend(jobs, looked, most, 0, best);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      packing_.restore(jobs[i], best.sizes[i], best.added[i]);
      count(jobs[i], 1);
    }
  }

  void descend(const std::vector<std::size_t>& jobs, const std::vector<std::vector<int>>& looked,
               const std::vector<std::int64_t>& most, std::size_t depth, Best& best) {
    if (value_ + most[depth] <= best.value) return;
    if (depth == jobs.size()) {
      if (!allowed()) return;
      best.value = value_;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        best.sizes[i] = packing_.sizeOf(jobs[i]);
        best.added[i] = packing_.addedOf(jobs[i]);
      }
      return;
    }
    const std::size_t job = jobs[depth];
    for (const int size : looked[depth]) {
      if (!packing_.hasWork()) break;
      if (packing_.setSize(job, size)) {
        count(job, 1);
        descend(jobs, looked, most, depth + 1, best);
        count(job, -1);
      }
      packing_.spend();
    }
    packing_.shrinkTo(job, in_.jobs[job].minimum);
  }

  // Returns the jobs that could give up a member, those with the least worth of one first.
  [[nodiscard]] std::vector<std::size_t> giving() const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < in_.jobs.size(); ++i) {
      const Job& job = in_.jobs[i];
      if (packing_.sizeOf(i) <= job.minimum) continue;
      const std::int64_t lost = gainOf(job, packing_.sizeOf(i)) - gainOf(job, packing_.sizeOf(i) - 1);
      order.emplace_back(
          static_cast<double>(lost) / static_cast<double>(std::max<std::int64_t>(shares_[i], 1)), i);
    }
    std::sort(order.begin(), order.end());
    if (order.size() > kGiving) order.resize(kGiving);
    std::vector<std::size_t> jobs;
    for (const auto& [density, job] : order) jobs.push_back(job);
    return jobs;
  }

  void exchange() {
    constexpr std::size_t kFew = 10;
    constexpr std::size_t kRounds = 6;
    int roundsWithoutGain = 0;
    for (std::size_t round = 0; round < kRounds && packing_.hasWork(); ++round) {
      const std::int64_t before = value_;
      packing_.choose(SizePacking::kWays[round % SizePacking::kWays.size()]);
      std::vector<std::size_t> wants = wanting_;
      if (in_.jobs.size() <= kFew) {
        wants.resize(in_.jobs.size());
        std::iota(wants.begin(), wants.end(), std::size_t{0});
      }
      if (wants.size() > kWanting) wants.resize(kWanting);
      const std::vector<std::size_t> gives = in_.jobs.size() <= kFew ? wants : giving();
      for (const std::size_t a : wants) {
        for (std::size_t i = 0; i < gives.size(); ++i) {
          if (gives[i] != a) chooseAgain({a, gives[i]});
          for (std::size_t j = i + 1; j < gives.size(); ++j) {
            if (gives[i] != a && gives[j] != a) chooseAgain({a, gives[i], gives[j]});
          }
        }
      }
      roundsWithoutGain = value_ == before ? roundsWithoutGain + 1 : 0;
      if (roundsWithoutGain == static_cast<int>(SizePacking::kWays.size())) return;
    }
  }

  const SizeProblem& in_;
  SizePacking packing_;
  const std::vector<int> fair_;
  std::vector<std::int64_t> shares_;
  std::vector<std::size_t> wanting_;  // jobs with a best rise that did not fit
  std::int64_t value_ = 0;
  std::int64_t loss_ = 0;
  std::int64_t maxLoss_ = 0;
  int touched_ = 0;
};

}  // namespace

SizeChoice chooseSizes(const SizeProblem& problem, std::int64_t work) { return Search(problem, work).run(); }

}  // namespace trainyard::core
