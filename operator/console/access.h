#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "kube/api_client.h"
#include "kube/rate_limiter.h"
#include "kube/reviews.h"
#include "operator/console/turns.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

inline constexpr std::chrono::seconds kAnswersLive{30};  // after that the API server is asked again
inline constexpr std::chrono::seconds kRefusalsLive{10};
inline constexpr std::size_t kMostCallers = 512;          // tokens remembered
inline constexpr std::size_t kMostCallersOfTenant = 32;   // of them, once it is known whose they are
inline constexpr std::size_t kMostNamespaces = 256;       // asked for one caller
inline constexpr std::size_t kMostStrangersWaiting = 64;  // tokens that nobody has seen yet
inline constexpr kube::RateLimit kStrangers{.perSecond = 20, .burst = 40};

// Whose token it is and what he may read: TokenReview, then SubjectAccessReviews for `list nodes`, `list
// queues` and `get trainingjobs`, first in all namespaces and, where he may not, in each. Only answers of the
// API server count: whatever cannot be asked is an error, never a yes. Beyond kMostCallers those leave first
// whose tokens were refused, then who has not asked for longest.
//
// What one tenant (tenantOf()) can take of it, however many tokens he has:
//  - tokens that are new are asked about one after the other, kStrangers of them all; those that are known
//    do not wait for them;
//  - what somebody may read is asked once for all his tokens;
//  - of each tenant one caller at a time is asked about;
//  - who has left before his turn is not asked about.
//
// Lives on the executor's thread. Tokens are kept in memory as keys, and are not written anywhere.
class Access {
 public:
  using Done = std::function<void(base::Result<Viewer>)>;
  using Gone = std::function<bool()>;

  Access(kube::ApiClient& api, base::Executor& executor)
      : api_(api), executor_(executor), strangers_(kStrangers, executor) {}
  ~Access() { *alive_ = false; }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // `done` is called once, at once or later; never for whom `gone` tells that nobody waits for it any more.
  // kUnauthorized: no such token. kThrottled: too many ask.
  void viewerOf(const std::string& token, const Names& namespaces, Gone gone, Done done);

 private:
  struct Answer {
    bool yes = false;
    base::Instant until{};
  };
  using Answers = std::map<std::string, Answer, std::less<>>;  // by question
  struct Waiter {
    Names namespaces;
    Gone gone;
    Done done;
  };
  struct Caller;
  using CallerPtr = std::shared_ptr<Caller>;
  using Step = void (Access::*)(const CallerPtr&);

  [[nodiscard]] CallerPtr callerOf(const std::string& token);
  [[nodiscard]] bool makeRoom();
  void makeRoomWithin(const Caller& caller);
  [[nodiscard]] static bool anybodyWaits(Caller& caller);
  void dismiss(const CallerPtr& caller);
  void identify(const CallerPtr& caller);
  void reviewToken(const CallerPtr& caller);
  void takeIdentity(const CallerPtr& caller, kube::TokenOwner owner);
  [[nodiscard]] std::shared_ptr<Answers> answersOf(const std::string& identity);
  void askRights(const CallerPtr& caller);
  void askWide(const CallerPtr& caller);
  void askNamespaces(const CallerPtr& caller);
  void ask(const CallerPtr& caller, const Names& questions, Step then);
  void endTurn(const CallerPtr& caller);
  void answer(const CallerPtr& caller);
  void fail(const CallerPtr& caller, const base::Error& error);

  kube::ApiClient& api_;
  base::Executor& executor_;
  kube::RateLimiter strangers_;
  Turns turns_;
  std::unordered_map<std::string, CallerPtr> callers_;                  // by token
  std::unordered_map<std::string, std::weak_ptr<Answers>> identities_;  // of their owners
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
