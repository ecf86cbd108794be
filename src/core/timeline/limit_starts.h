#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/place/blockers.h"
#include "core/queues/queue_tree.h"
#include "core/timeline/ends.h"

namespace trainyard::core {

// For messages only; no decision depends on it.

// Jobs that hold quota, by their queue, with their expected ends: each queue's jobs are looked at once for
// each limit above them, however many other queues there are.
class QuotaHolders {
 public:
  QuotaHolders(const QueueTree& tree, Ends& ends);

  struct Holder {
    const model::Job* job = nullptr;
    base::WallTime end{};
    Basis basis = Basis::kGuess;
    std::int64_t amount = 0;
  };
  // The jobs that hold a dimension's quota in the queue `at` and those below it, by expected end.
  [[nodiscard]] std::vector<Holder> of(QueueTree::Index at, std::size_t dimension) const;

 private:
  const QueueTree& tree_;
  std::vector<std::vector<Holder>> byQueue_;  // amounts not filled in
};

// The jobs that hold the most of a dimension in the queue `at` and those below it.
[[nodiscard]] Blockers limitHolders(const QueueTree& tree, QueueTree::Index at, std::size_t dimension,
                                    const QuotaHolders& holders);

// When pending jobs start that wait for capacity below one limit.
//
// Assumes: what Ends assumes; no other job comes; the jobs start in the order of the calls, none
// before the one ahead of it. Steps: jobs below the limit end one after another until the next
// pending job fits; it then holds its amount until its own expected end. If a start depends on a
// guessed end, neither it nor any start after it is returned.
class LimitStarts {
 public:
  // `bound`: the total amount that may be held.
  LimitStarts(const QueueTree& tree, QueueTree::Index at, std::size_t dimension, std::int64_t bound,
              base::WallTime now, const QuotaHolders& holders);

  // `notBefore`: when the nodes are free.
  [[nodiscard]] std::optional<base::WallTime> start(std::int64_t amount, const ExpectedRun& run,
                                                    std::optional<base::WallTime> notBefore);
  // No further start is returned.
  void giveUp() { lost_ = true; }

 private:
  struct Release {
    base::WallTime at{};
    std::int64_t amount = 0;
    bool guess = false;
  };

  std::vector<Release> releases_;  // the earlier first
  std::size_t next_ = 0;
  std::int64_t usage_ = 0;
  std::int64_t bound_ = 0;
  base::WallTime time_{};
  bool lost_ = false;
};

}  // namespace trainyard::core
