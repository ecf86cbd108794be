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
#include "operator/console/tenant_queue.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

inline constexpr std::chrono::seconds kAnswersLive{30};  // after that the API server is asked again
inline constexpr std::chrono::seconds kRefusalsLive{10};
inline constexpr std::size_t kMaxCallers = 512;              // tokens remembered
inline constexpr std::size_t kMaxCallersOfTenant = 32;       // of one tenant, once their owner is known
inline constexpr std::size_t kMaxNamespaces = 256;           // asked about for one caller
inline constexpr std::size_t kMaxUnknownTokensWaiting = 64;  // tokens of unknown owners
inline constexpr kube::RateLimit kUnknownTokenRate{.perSecond = 20, .burst = 40};

// Identifies the owner of a token and what this user may read: TokenReview, then SubjectAccessReviews for
// `list nodes`, `list queues` and `get trainingjobs`, first in all namespaces and, if denied, in each. Only
// answers of the API server count: a failed review is an error, never a yes. Beyond kMaxCallers, refused
// tokens are evicted first, then the least recently used ones.
//
// Limits of one tenant (tenantOf()), however many tokens it has:
//  - new tokens are reviewed at the rate kUnknownTokenRate, which all tenants share; known tokens do not wait
//  for
//    them;
//  - the rights of one identity are reviewed once for all of its tokens;
//  - one caller of each tenant is reviewed at a time;
//  - a caller that has left before its turn is not reviewed.
//
// Lives on the executor's thread. Tokens are kept in memory as keys, and are not written anywhere.
class Access {
 public:
  using Done = std::function<void(base::Result<Viewer>)>;
  using Gone = std::function<bool()>;

  Access(kube::ApiClient& api, base::Executor& executor)
      : api_(api), executor_(executor), unknownTokens_(kUnknownTokenRate, executor) {}
  ~Access() { *alive_ = false; }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // Calls `done` once, now or later, unless `gone` reports that the client has left. kUnauthorized: the token
  // is not valid. kThrottled: too many callers ask.
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
  [[nodiscard]] bool evictOne();
  void evictOfTenant(const Caller& caller);
  [[nodiscard]] static bool hasWaiters(Caller& caller);
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
  kube::RateLimiter unknownTokens_;
  TenantQueue turns_;
  std::unordered_map<std::string, CallerPtr> callers_;                  // by token
  std::unordered_map<std::string, std::weak_ptr<Answers>> identities_;  // by identity of the owner
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
