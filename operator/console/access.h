#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/executor.h"
#include "kube/api_client.h"
#include "kube/reviews.h"
#include "operator/console/viewer.h"

namespace trainyard::operator_::console {

inline constexpr std::chrono::seconds kAnswersLive{30};  // after that the API server is asked again
inline constexpr std::chrono::seconds kRefusalsLive{10};
inline constexpr std::size_t kMostCallers = 512;     // tokens remembered
inline constexpr std::size_t kMostNamespaces = 256;  // asked for one caller

// Whose token it is and what he may read: TokenReview, then SubjectAccessReviews for `list nodes`, `list
// queues` and `get trainingjobs`, first in all namespaces and, where he may not, in each. Only answers of the
// API server count: whatever cannot be asked is an error, never a yes. Beyond kMostCallers those leave first
// whose tokens were refused, then who has not asked for longest.
//
// Lives on the executor's thread. Tokens are kept in memory as keys, and are not written anywhere.
class Access {
 public:
  using Done = std::function<void(base::Result<Viewer>)>;

  Access(kube::ApiClient& api, base::Executor& executor) : api_(api), executor_(executor) {}
  ~Access() { *alive_ = false; }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // `done` is called once, at once or later. kUnauthorized: no such token. kThrottled: too many ask.
  void viewerOf(const std::string& token, const Names& namespaces, Done done);

 private:
  struct Caller;
  using CallerPtr = std::shared_ptr<Caller>;

  [[nodiscard]] CallerPtr callerOf(const std::string& token);
  [[nodiscard]] bool makeRoom();
  void identify(const CallerPtr& caller);
  void takeIdentity(Caller& caller, kube::TokenOwner owner) const;
  void askWide(const CallerPtr& caller);
  void askNamespaces(const CallerPtr& caller);
  void ask(const CallerPtr& caller, const Names& questions, void (Access::*then)(const CallerPtr&));
  void answer(const CallerPtr& caller);
  void fail(const CallerPtr& caller, const base::Error& error);

  kube::ApiClient& api_;
  base::Executor& executor_;
  std::unordered_map<std::string, CallerPtr> callers_;  // by token
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
