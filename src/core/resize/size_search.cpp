#include "core/resize/size_search.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

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
      : in_(problem),
        work_(work),
        fair_(fairSizes(problem)),
        free_(problem.free),
        come_(problem.jobs.size()) {
    for (const Job& job : problem.jobs) {
      sizes_.push_back(job.present);
      shares_.push_back(dominantShare(problem, job));
      value_ += gainOf(job, job.present);
    }
    loss_ = fairnessLoss(problem, fair_, sizes_);
    maxLoss_ = std::max(problem.maxLoss, loss_);
  }

  SizeChoice run() {
    SizeChoice choice;
    choice.before = value_;
    rise();
    if (in_.jobs.size() <= kAllAtOnce) {
      std::vector<std::size_t> all(in_.jobs.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      for (const Way way : kWays) {
        way_ = way;
        chooseAgain(all);
        std::reverse(all.begin(), all.end());
        chooseAgain(all);
      }
    } else {
      exchange();
    }
    choice.sizes = sizes_;
    choice.value = value_;
    choice.bound = std::max(boundOf(in_), value_);
    choice.loss = loss_;
    choice.touched = touched_;
    return choice;
  }

 private:
  // --- placement of members

  [[nodiscard]] std::int64_t* capacityOf(std::size_t server) { return free_.data() + server * in_.kinds; }

  [[nodiscard]] std::int64_t fitting(const Job& job, std::size_t server, std::int64_t most) {
    const std::int64_t* available = capacityOf(server);
    for (std::size_t k = 0; k < in_.kinds; ++k) {
      if (job.demand[k] > 0) most = std::min(most, std::max<std::int64_t>(available[k], 0) / job.demand[k]);
    }
    return most;
  }

  void take(const Job& job, std::size_t server, std::int64_t count) {
    std::int64_t* available = capacityOf(server);
    for (std::size_t k = 0; k < in_.kinds; ++k) available[k] -= job.demand[k] * count;
  }

  // Bin packing: one way to choose servers may fit members that another does not.
  enum class Way { kMostThenFullest, kFullest, kMostThenEmptiest };
  static constexpr std::array kWays{Way::kMostThenFullest, Way::kFullest, Way::kMostThenEmptiest};
  [[nodiscard]] std::tuple<std::int64_t, double, std::size_t> rankOf(std::int64_t fits, double left,
                                                                     std::size_t server) const {
    return {way_ == Way::kFullest ? 0 : -fits, way_ == Way::kMostThenEmptiest ? -left : left, server};
  }

  // Returns the first server in the order of the current way.
  [[nodiscard]] std::optional<std::size_t> serverFor(const Job& job, std::int64_t wanted) {
    std::optional<std::size_t> best;
    std::tuple<std::int64_t, double, std::size_t> bestRank;
    const std::size_t servers = in_.servers();
    work_ -= static_cast<std::int64_t>(servers);
    const std::vector<char>& pool = in_.pools[job.pool];
    for (std::size_t server = 0; server < servers; ++server) {
      if (pool[server] == 0) continue;
      const std::int64_t fits = fitting(job, server, wanted);
      if (fits == 0) continue;
      double left = 0;
      for (std::size_t k = 0; k < in_.kinds; ++k) {
        if (in_.capacity[k] > 0)
          left += static_cast<double>(capacityOf(server)[k]) / static_cast<double>(in_.capacity[k]);
      }
      const std::tuple rank = rankOf(fits, left, server);
      if (best && rank >= bestRank) continue;
      best = server;
      bestRank = rank;
    }
    return best;
  }

  // Members added by this search leave first, then the job's last members.
  void shrinkTo(std::size_t index, int size) {
    const Job& job = in_.jobs[index];
    for (; sizes_[index] > size; --sizes_[index]) {
      std::vector<std::uint32_t>& come = come_[index];
      const bool came = sizes_[index] > job.present;
      const std::size_t server = came ? come.back() : job.places[static_cast<std::size_t>(sizes_[index]) - 1];
      if (came) come.pop_back();
      take(job, server, -1);
    }
  }

  // Returns true if the size was reached; else the job keeps as many members as fit.
  bool growTo(std::size_t index, int size) {
    const Job& job = in_.jobs[index];
    for (; sizes_[index] < std::min(size, job.present); ++sizes_[index]) {
      const std::size_t own = job.places[static_cast<std::size_t>(sizes_[index])];
      if (fitting(job, own, 1) == 0) return false;
      take(job, own, 1);
    }
    while (sizes_[index] < size) {
      const std::int64_t wanted = size - sizes_[index];
      const auto server = serverFor(job, wanted);
      if (!server) return false;
      const std::int64_t count = fitting(job, *server, wanted);
      take(job, *server, count);
      come_[index].insert(come_[index].end(), static_cast<std::size_t>(count),
                          static_cast<std::uint32_t>(*server));
      sizes_[index] += static_cast<int>(count);
    }
    return true;
  }

  bool setSize(std::size_t index, int size) {
    shrinkTo(index, size);
    return growTo(index, size);
  }

  // --- sums

  [[nodiscard]] std::int64_t lossOf(std::size_t index, int size) const {
    return shares_[index] * std::abs(size - fair_[index]);
  }

  // Adds (sign 1) or subtracts (sign -1) the job's part of the sums at its current size.
  void count(std::size_t index, int sign) {
    const Job& job = in_.jobs[index];
    value_ += sign * gainOf(job, sizes_[index]);
    loss_ += sign * lossOf(index, sizes_[index]);
    touched_ += sizes_[index] == job.present ? 0 : sign;
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
    const std::int64_t now = gainOf(job, sizes_[index]);
    for (int size = sizes_[index] + 1; size <= most; ++size) {
      const std::int64_t gain = gainOf(job, size) - now;
      if (gain <= 0) continue;
      const double need =
          static_cast<double>(std::max<std::int64_t>(shares_[index], 1)) * (size - sizes_[index]);
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
    while (!rises.empty() && work_ > 0) {
      const Rise next = rises.top();
      rises.pop();
      const int before = sizes_[next.job];
      const std::int64_t gained = value_;
      count(next.job, -1);
      const bool all = growTo(next.job, next.to);
      count(next.job, 1);
      const bool good = value_ > gained && allowed();
      if (!good) {
        count(next.job, -1);
        shrinkTo(next.job, before);
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
    for (const int each : {job.present, sizes_[index], fair_[index], sizes_[index] - 1, sizes_[index] + 1})
      sizes.push_back(std::clamp(each, job.minimum, job.most));
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  struct Best {
    std::int64_t value = 0;
    std::vector<int> sizes;
    std::vector<std::vector<std::uint32_t>> come;
  };

  // Tries all combinations of sizes of these jobs and keeps the best one that is allowed.
  void chooseAgain(const std::vector<std::size_t>& jobs) {
    if (work_ <= 0) return;
    Best best{value_, {}, {}};
    for (const std::size_t each : jobs) {
      best.sizes.push_back(sizes_[each]);
      best.come.push_back(come_[each]);
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
      shrinkTo(each, in_.jobs[each].minimum);
    }
    descend(jobs, looked, most, 0, best);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      restore(jobs[i], best.sizes[i], best.come[i]);
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
        best.sizes[i] = sizes_[jobs[i]];
        best.come[i] = come_[jobs[i]];
      }
      return;
    }
    const std::size_t job = jobs[depth];
    for (const int size : looked[depth]) {
      if (work_ <= 0) break;
      if (setSize(job, size)) {
        count(job, 1);
        descend(jobs, looked, most, depth + 1, best);
        count(job, -1);
      }
      --work_;
    }
    shrinkTo(job, in_.jobs[job].minimum);
  }

  void restore(std::size_t index, int size, const std::vector<std::uint32_t>& come) {
    const Job& job = in_.jobs[index];
    shrinkTo(index, job.minimum);
    for (; sizes_[index] < std::min(size, job.present); ++sizes_[index])
      take(job, job.places[static_cast<std::size_t>(sizes_[index])], 1);
    for (const std::uint32_t server : come) take(job, server, 1);
    come_[index] = come;
    sizes_[index] = size;
  }

  // Returns the jobs that could give up a member, those with the least worth of one first.
  [[nodiscard]] std::vector<std::size_t> giving() const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < in_.jobs.size(); ++i) {
      const Job& job = in_.jobs[i];
      if (sizes_[i] <= job.minimum) continue;
      const std::int64_t lost = gainOf(job, sizes_[i]) - gainOf(job, sizes_[i] - 1);
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
    for (std::size_t round = 0; round < kRounds && work_ > 0; ++round) {
      const std::int64_t before = value_;
      way_ = kWays[round % kWays.size()];
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
      if (roundsWithoutGain == static_cast<int>(kWays.size())) return;
    }
  }

  const SizeProblem& in_;
  std::int64_t work_;
  const std::vector<int> fair_;
  std::vector<std::int64_t> free_;
  std::vector<std::vector<std::uint32_t>> come_;  // servers of members beyond the present ones
  std::vector<int> sizes_;
  std::vector<std::int64_t> shares_;
  std::vector<std::size_t> wanting_;  // jobs with a best rise that did not fit
  std::int64_t value_ = 0;
  std::int64_t loss_ = 0;
  std::int64_t maxLoss_ = 0;
  int touched_ = 0;
  Way way_ = Way::kMostThenFullest;
};

}  // namespace

SizeChoice chooseSizes(const SizeProblem& problem, std::int64_t work) { return Search(problem, work).run(); }

}  // namespace trainyard::core
