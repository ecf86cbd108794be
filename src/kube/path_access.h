#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "kube/api_client.h"
#include "kube/rate_limiter.h"
#include "kube/reviews.h"

namespace trainyard::kube {

// Checks whether the owner of a token may `get` one path of this program, by TokenReview and
// SubjectAccessReview. A positive verdict is valid for kYesLives, a negative one for kNoLives. A failed
// review is an error, never a positive verdict.
//
// All unknown tokens together share kUnknownTokenRate reviews, which bounds the cost of a flood of wrong
// tokens for the API server. A token that was accepted last time does not wait behind them, and is not
// evicted for them while it is in use. Otherwise the least recently used token is evicted.
//
// Runs on the executor's thread, except remembered(). Tokens are kept in memory only, as keys, and are never
// written.
class PathAccess {
 public:
  static constexpr std::chrono::minutes kYesLives{5};
  static constexpr std::chrono::seconds kNoLives{10};
  static constexpr std::chrono::minutes kGoodStays{10};
  static constexpr std::size_t kMaxTokens = 64;
  static constexpr RateLimit kUnknownTokenRate{.perSecond = 10, .burst = 20};
  static constexpr std::chrono::seconds kPatience{5};  // then the caller gets an error

  // Success: allowed. kUnauthorized: unknown token. kForbidden: denied. kThrottled: too many requests.
  // Others: the review failed.
  using Verdict = base::Result<void>;
  using Done = std::function<void(Verdict)>;

  PathAccess(ApiClient& api, base::Executor& executor, std::string path);
  ~PathAccess();
  PathAccess(const PathAccess&) = delete;
  PathAccess& operator=(const PathAccess&) = delete;

  // Thread-safe. Returns the verdict that is valid for this token without a review.
  [[nodiscard]] std::optional<Verdict> remembered(const std::string& token) const;
  // `done` is called once, immediately or later; not called for a request that is gone before its turn.
  void check(const std::string& token, std::function<bool()> gone, Done done);

 private:
  struct Waiter {
    std::function<bool()> gone;
    Done done;
    base::TimerId patience{};
  };
  struct Entry {
    std::string token;
    Verdict verdict{};
    base::Instant until{};
    base::Instant used{};
    bool good = false;  // accepted by its last review
    bool asking = false;
    std::vector<std::shared_ptr<Waiter>> waiters = {};
  };
  using EntryPtr = std::shared_ptr<Entry>;

  [[nodiscard]] EntryPtr entryOf(const std::string& token);
  [[nodiscard]] bool evictOne();
  void wait(const EntryPtr& entry, std::function<bool()> gone, Done done);
  void turn(const EntryPtr& entry);
  void ask(const EntryPtr& entry);
  void take(const EntryPtr& entry, const Verdict& verdict);

  ApiClient& api_;
  base::Executor& executor_;
  const std::string path_;
  RateLimiter unknownTokens_;
  mutable std::mutex mutex_;  // guards the table and what remembered() reads of its entries
  std::unordered_map<std::string, EntryPtr> entries_;  // by token
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::kube
