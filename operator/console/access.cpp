#include "operator/console/access.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace trainyard::operator_::console {
namespace {

// Questions. What begins with kJobsIn goes on with a namespace; alone it means all of them.
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

}  // namespace

struct Access::Caller {
  struct Answer {
    bool yes = false;
    base::Instant until{};
  };
  struct Waiter {
    Names namespaces;
    Done done;
  };

  std::string token;
  kube::TokenOwner owner = {};
  base::Instant identityUntil{};
  std::map<std::string, Answer, std::less<>> answers = {};
  std::vector<Waiter> waiters = {};
  bool asking = false;
  base::Instant used{};

  [[nodiscard]] bool says(std::string_view question) const {
    const auto found = answers.find(question);
    return found != answers.end() && found->second.yes;
  }
};

void Access::viewerOf(const std::string& token, const Names& namespaces, Done done) {
  const CallerPtr caller = callerOf(token);
  if (!caller) return done(base::fail(base::ErrorCode::kThrottled, "too many callers at once"));
  caller->used = executor_.now();
  caller->waiters.push_back({namespaces, std::move(done)});
  if (!caller->asking) identify(caller);
}

Access::CallerPtr Access::callerOf(const std::string& token) {
  if (const auto found = callers_.find(token); found != callers_.end()) return found->second;
  if (callers_.size() >= kMostCallers && !makeRoom()) return nullptr;
  auto caller = std::make_shared<Caller>();
  caller->token = token;
  callers_.emplace(token, caller);
  return caller;
}

bool Access::makeRoom() {
  auto leaves = callers_.end();
  for (auto each = callers_.begin(); each != callers_.end(); ++each) {
    if (each->second->asking) continue;
    const auto worth = [](const Caller& caller) { return std::pair(caller.owner.known, caller.used); };
    if (leaves == callers_.end() || worth(*each->second) < worth(*leaves->second)) leaves = each;
  }
  if (leaves == callers_.end()) return false;
  callers_.erase(leaves);
  return true;
}

void Access::identify(const CallerPtr& caller) {
  caller->asking = true;
  // Here only: an answer holds for the whole of a round.
  std::erase_if(caller->answers, [&](const auto& each) { return each.second.until <= executor_.now(); });
  if (executor_.now() < caller->identityUntil) return askWide(caller);
  kube::reviewToken(api_, caller->token,
                    [this, caller, alive = alive_](base::Result<kube::TokenOwner> owner) {
                      if (!*alive) return;
                      if (!owner) return fail(caller, owner.error());
                      takeIdentity(*caller, std::move(*owner));
                      askWide(caller);
                    });
}

void Access::takeIdentity(Caller& caller, kube::TokenOwner owner) const {
  if (owner.subject != caller.owner.subject) caller.answers.clear();
  caller.owner = std::move(owner);
  caller.identityUntil = executor_.now() + (caller.owner.known ? kAnswersLive : kRefusalsLive);
}

void Access::askWide(const CallerPtr& caller) {
  if (!caller->owner.known)
    return fail(caller, {base::ErrorCode::kUnauthorized, "the API server does not know this token"});
  ask(caller, {std::string(kNodes), std::string(kQueues), in("")}, &Access::askNamespaces);
}

void Access::askNamespaces(const CallerPtr& caller) {
  Names questions;
  if (!caller->says(in(""))) {
    for (const auto& waiter : caller->waiters) {
      for (const std::string& ns : waiter.namespaces) {
        if (!ns.empty() && questions.size() < kMostNamespaces) questions.insert(in(ns));
      }
    }
  }
  ask(caller, questions, &Access::answer);
}

// Those that are not answered yet, all at once; then goes on.
void Access::ask(const CallerPtr& caller, const Names& questions, void (Access::*then)(const CallerPtr&)) {
  std::vector<std::string> open;
  std::copy_if(questions.begin(), questions.end(), std::back_inserter(open),
               [&](const std::string& each) { return !caller->answers.contains(each); });
  if (open.empty()) return (this->*then)(caller);
  struct Round {
    std::size_t left = 0;
    std::optional<base::Error> error = std::nullopt;
  };
  const auto round = std::make_shared<Round>(Round{.left = open.size()});
  for (const std::string& question : open) {
    kube::reviewAccess(api_, caller->owner, questionOf(question),
                       [this, caller, round, question, then, alive = alive_](base::Result<bool> may) {
                         if (!*alive) return;
                         if (may) {
                           caller->answers[question] = {*may, executor_.now() + kAnswersLive};
                         } else {
                           round->error = may.error();
                         }
                         if (--round->left > 0) return;
                         if (round->error) return fail(caller, *round->error);
                         (this->*then)(caller);
                       });
  }
}

void Access::answer(const CallerPtr& caller) {
  caller->asking = false;
  Viewer viewer{.user = caller->owner.user, .everywhere = caller->says(in(""))};
  viewer.nodes = caller->says(kNodes);
  viewer.queues = caller->says(kQueues);
  for (const auto& [question, each] : caller->answers) {
    if (viewer.everywhere || !each.yes || !question.starts_with(kJobsIn)) continue;
    viewer.namespaces.insert(question.substr(kJobsIn.size()));
  }
  const auto waiters = std::exchange(caller->waiters, {});
  for (const auto& waiter : waiters) {
    // Who came while the others' namespaces were asked for may have one more.
    const bool all = viewer.everywhere || waiter.namespaces.size() > kMostNamespaces ||
                     std::all_of(waiter.namespaces.begin(), waiter.namespaces.end(), [&](const auto& ns) {
                       return caller->answers.contains(in(ns)) || ns.empty();
                     });
    if (all) {
      waiter.done(viewer);
    } else {
      viewerOf(caller->token, waiter.namespaces, waiter.done);
    }
  }
}

void Access::fail(const CallerPtr& caller, const base::Error& error) {
  caller->asking = false;
  const auto waiters = std::exchange(caller->waiters, {});
  for (const auto& waiter : waiters) waiter.done(base::fail(error));
}

}  // namespace trainyard::operator_::console
