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

// Whether the owner of a token may `get` one path of this program, as the API server says: TokenReview, then
// SubjectAccessReview. A yes holds for kYesLives, a no for kNoLives; what cannot be asked is an error, never
// a yes.
//
// Whoever sends tokens that nobody has seen shares kStrangers among all: that is what a rush of wrong ones
// costs the API server. A token that was good the last time does not wait for them, and does not make room
// for them as long as it is shown now and then. Of the others the one leaves that was not shown for longest.
//
// Lives on the executor's thread, but for remembered(). Tokens are kept in memory as keys, and are not
// written anywhere.
class PathAccess {
 public:
  static constexpr std::chrono::minutes kYesLives{5};
  static constexpr std::chrono::seconds kNoLives{10};
  static constexpr std::chrono::minutes kGoodStays{10};
  static constexpr std::size_t kMostTokens = 64;
  static constexpr RateLimit kStrangers{.perSecond = 10, .burst = 20};
  static constexpr std::chrono::seconds kPatience{5};  // then the caller is told that nobody answers

  // Nothing: he may. kUnauthorized: nobody's token. kForbidden: he may not. kThrottled: too many ask. Others:
  // the API server cannot be asked.
  using Verdict = base::Result<void>;
  using Done = std::function<void(Verdict)>;

  PathAccess(ApiClient& api, base::Executor& executor, std::string path);
  ~PathAccess();
  PathAccess(const PathAccess&) = delete;
  PathAccess& operator=(const PathAccess&) = delete;

  // Any thread: what holds of this token without asking.
  [[nodiscard]] std::optional<Verdict> remembered(const std::string& token) const;
  // `done` is called once, at once or later; not for who has gone before his turn came.
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
    bool good = false;  // was, when it was asked about the last time
    bool asking = false;
    std::vector<std::shared_ptr<Waiter>> waiters = {};
  };
  using EntryPtr = std::shared_ptr<Entry>;

  [[nodiscard]] EntryPtr entryOf(const std::string& token);
  [[nodiscard]] bool makeRoom();
  void wait(const EntryPtr& entry, std::function<bool()> gone, Done done);
  void turn(const EntryPtr& entry);
  void ask(const EntryPtr& entry);
  void take(const EntryPtr& entry, const Verdict& verdict);

  ApiClient& api_;
  base::Executor& executor_;
  const std::string path_;
  RateLimiter strangers_;
  mutable std::mutex mutex_;  // of the table and what remembered() reads of its entries
  std::unordered_map<std::string, EntryPtr> entries_;  // by token
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::kube
