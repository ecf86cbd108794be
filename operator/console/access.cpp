#include "operator/console/access.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace trainyard::operator_::console {
namespace {

// Questions to the API server. A namespace follows kJobsIn; alone it stands for all namespaces.
constexpr std::string_view kNodes = "nodes";
constexpr std::string_view kQueues = "queues";
constexpr std::string_view kJobsIn = "jobs/";

kube::AccessQuestion questionOf(std::string_view question) {
  if (question == kNodes) return {.verb = "list", .resource = "nodes"};
  if (question == kQueues) return {.verb = "list", .group = "trainyard.dev", .resource = "queues"};
  return {.verb = "get",
          .group = "trainyard.dev",
          .resource = "trainingjobs",
          .ns = question.substr(kJobsIn.size())};
}

std::string in(std::string_view ns) { return std::string(kJobsIn).append(ns); }

Names wideQuestions() { return {std::string(kNodes), std::string(kQueues), in("")}; }

}  // namespace

struct Access::Caller {
  std::string token;
  kube::TokenOwner owner = {};
  std::string tenant = {};
  base::Instant identityUntil{};
  std::shared_ptr<Answers> answers = std::make_shared<Answers>();  // shared by all tokens of one identity
  base::Instant roundAt{};  // answers valid at this time stay valid for the whole round
  std::vector<Waiter> waiters = {};
  bool asking = false;
  bool hasTurn = false;
  base::Instant used{};

  [[nodiscard]] bool knows(std::string_view question) const {
    const auto found = answers->find(question);
    return found != answers->end() && found->second.until > roundAt;
  }
  [[nodiscard]] bool allows(std::string_view question) const {
    return knows(question) && answers->find(question)->second.yes;
  }
  // The questions for the waiters' namespaces, at most kMaxNamespaces.
  [[nodiscard]] Names namespaceQuestions() const {
    Names questions;
    if (allows(in(""))) return questions;
    for (const auto& waiter : waiters) {
      for (const std::string& ns : waiter.namespaces) {
        if (!ns.empty() && questions.size() < kMaxNamespaces) questions.insert(in(ns));
      }
    }
    return questions;
  }
  [[nodiscard]] bool knowsAll(const Names& questions) const {
    return std::all_of(questions.begin(), questions.end(), [&](const auto& each) { return knows(each); });
  }
};

void Access::viewerOf(const std::string& token, const Names& namespaces, Gone gone, Done done) {
  const CallerPtr caller = callerOf(token);
  if (!caller) return done(base::fail(base::ErrorCode::kThrottled, "too many callers at once"));
  caller->used = executor_.now();
  caller->waiters.push_back({namespaces, std::move(gone), std::move(done)});
  if (!caller->asking) identify(caller);
}

Access::CallerPtr Access::callerOf(const std::string& token) {
  if (const auto found = callers_.find(token); found != callers_.end()) return found->second;
  if (callers_.size() >= kMaxCallers && !evictOne()) return nullptr;
  auto caller = std::make_shared<Caller>();
  caller->token = token;
  callers_.emplace(token, caller);
  return caller;
}

bool Access::evictOne() {
  const auto worth = [](const auto& each) {
    return std::tuple(each.second->asking, each.second->owner.known, each.second->used);
  };
  const auto leaves = std::min_element(callers_.begin(), callers_.end(),
                                       [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  if (leaves == callers_.end() || leaves->second->asking) return false;
  callers_.erase(leaves);
  return true;
}

// A tenant beyond its limit evicts its own least recently used token, not another tenant's.
void Access::evictOfTenant(const Caller& caller) {
  std::size_t own = 0;
  auto leaves = callers_.end();
  for (auto each = callers_.begin(); each != callers_.end(); ++each) {
    const Caller& other = *each->second;
    if (other.tenant != caller.tenant) continue;
    ++own;
    if (&other == &caller || other.asking) continue;
    if (leaves == callers_.end() || other.used < leaves->second->used) leaves = each;
  }
  if (own > kMaxCallersOfTenant && leaves != callers_.end()) callers_.erase(leaves);
}

bool Access::hasWaiters(Caller& caller) {
  std::erase_if(caller.waiters, [](const Waiter& each) { return each.gone(); });
  return !caller.waiters.empty();
}

// No waiter is left. The next request for this token starts again.
void Access::dismiss(const CallerPtr& caller) {
  caller->asking = false;
  endTurn(caller);
}

void Access::identify(const CallerPtr& caller) {
  caller->asking = true;
  if (executor_.now() < caller->identityUntil) return askRights(caller);
  if (caller->owner.known) return reviewToken(caller);
  if (unknownTokens_.waiting() >= kMaxUnknownTokensWaiting)
    return fail(caller, {base::ErrorCode::kThrottled, "too many unknown tokens are being checked"});
  unknownTokens_.acquire([this, caller] {
    if (!hasWaiters(*caller)) return dismiss(caller);
    reviewToken(caller);
  });
}

void Access::reviewToken(const CallerPtr& caller) {
  kube::reviewToken(api_, caller->token,
                    [this, caller, alive = alive_](base::Result<kube::TokenOwner> owner) {
                      if (!*alive) return;
                      if (!owner) return fail(caller, owner.error());
                      takeIdentity(caller, std::move(*owner));
                      askRights(caller);
                    });
}

void Access::takeIdentity(const CallerPtr& caller, kube::TokenOwner owner) {
  caller->owner = std::move(owner);
  caller->identityUntil = executor_.now() + (caller->owner.known ? kAnswersLive : kRefusalsLive);
  if (!caller->owner.known) return;
  caller->tenant = tenantOf(caller->owner.user);
  caller->answers = answersOf(caller->owner.identity);
  evictOfTenant(*caller);
}

std::shared_ptr<Access::Answers> Access::answersOf(const std::string& identity) {
  if (auto known = identities_[identity].lock()) return known;
  std::erase_if(identities_, [](const auto& each) { return each.second.expired(); });
  auto answers = std::make_shared<Answers>();
  identities_[identity] = answers;
  return answers;
}

// A caller with cached answers does not wait for its turn.
void Access::askRights(const CallerPtr& caller) {
  if (!caller->owner.known)
    return fail(caller, {base::ErrorCode::kUnauthorized, "the API server does not accept this token"});
  caller->roundAt = executor_.now();
  if (caller->knowsAll(wideQuestions()) && caller->knowsAll(caller->namespaceQuestions()))
    return answer(caller);
  const auto begin = [this, caller] {
    caller->hasTurn = true;
    if (!hasWaiters(*caller)) return dismiss(caller);
    caller->roundAt = executor_.now();
    std::erase_if(*caller->answers, [&](const auto& each) { return each.second.until <= caller->roundAt; });
    askWide(caller);
  };
  if (!turns_.take(caller->tenant, begin))
    fail(caller, {base::ErrorCode::kThrottled, "too many permissions of this tenant are being checked"});
}

void Access::askWide(const CallerPtr& caller) { ask(caller, wideQuestions(), &Access::askNamespaces); }

void Access::askNamespaces(const CallerPtr& caller) {
  ask(caller, caller->namespaceQuestions(), &Access::answer);
}

// Asks all unanswered questions at once, then calls `then`.
void Access::ask(const CallerPtr& caller, const Names& questions, Step then) {
  std::vector<std::string> open;
  std::copy_if(questions.begin(), questions.end(), std::back_inserter(open),
               [&](const std::string& each) { return !caller->knows(each); });
  if (open.empty()) return (this->*then)(caller);
  struct Round {
    std::size_t left = 0;
    std::optional<base::Error> error = std::nullopt;
  };
  const auto round = std::make_shared<Round>(Round{.left = open.size()});
  for (const std::string& question : open) {
    kube::reviewAccess(api_, caller->owner, questionOf(question),
                       [this, caller, round, question, then, answers = caller->answers,
                        alive = alive_](base::Result<bool> may) {
                         if (!*alive) return;
                         if (may) {
                           (*answers)[question] = {*may, executor_.now() + kAnswersLive};
                         } else {
                           round->error = may.error();
                         }
                         if (--round->left > 0) return;
                         if (round->error) return fail(caller, *round->error);
                         (this->*then)(caller);
                       });
  }
}

void Access::endTurn(const CallerPtr& caller) {
  if (std::exchange(caller->hasTurn, false)) turns_.leave(caller->tenant);
}

void Access::answer(const CallerPtr& caller) {
  caller->asking = false;
  Viewer viewer{.user = caller->owner.user, .everywhere = caller->allows(in(""))};
  viewer.nodes = caller->allows(kNodes);
  viewer.queues = caller->allows(kQueues);
  for (const auto& [question, each] : *caller->answers) {
    if (viewer.everywhere || !question.starts_with(kJobsIn) || !caller->allows(question)) continue;
    viewer.namespaces.insert(question.substr(kJobsIn.size()));
  }
  std::vector<Waiter> again;
  for (auto& waiter : std::exchange(caller->waiters, {})) {
    // A waiter that arrived during the round may need a namespace that was not asked about.
    const bool all = viewer.everywhere || waiter.namespaces.size() > kMaxNamespaces ||
                     std::all_of(waiter.namespaces.begin(), waiter.namespaces.end(),
                                 [&](const auto& ns) { return caller->knows(in(ns)) || ns.empty(); });
    if (all) {
      waiter.done(viewer);
    } else {
      again.push_back(std::move(waiter));
    }
  }
  endTurn(caller);
  for (auto& each : again)
    viewerOf(caller->token, each.namespaces, std::move(each.gone), std::move(each.done));
}

void Access::fail(const CallerPtr& caller, const base::Error& error) {
  caller->asking = false;
  for (const auto& waiter : std::exchange(caller->waiters, {})) waiter.done(base::fail(error));
  endTurn(caller);
}

}  // namespace trainyard::operator_::console
