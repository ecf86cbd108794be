#include "operator/console/access.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::operator_::console {
namespace {

constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 10;

// Questions. What begins with kJobsIn goes on with a namespace; alone it means all of them.
constexpr std::string_view kNodes = "nodes";
constexpr std::string_view kQueues = "queues";
constexpr std::string_view kJobsIn = "jobs/";

std::string tokenReview(const std::string& token) {
  codec::JsonWriter out;
  out.beginObject().member("apiVersion", "authentication.k8s.io/v1").member("kind", "TokenReview");
  out.key("spec").beginObject().member("token", token).endObject().endObject();
  return std::move(out).take();
}

std::string accessReview(const std::string& subject, std::string_view question) {
  codec::JsonWriter out;
  out.beginObject().member("apiVersion", "authorization.k8s.io/v1").member("kind", "SubjectAccessReview");
  out.key("spec").beginObject().raw(subject).key("resourceAttributes").beginObject();
  if (question == kNodes) {
    out.member("verb", "list").member("resource", "nodes");
  } else if (question == kQueues) {
    out.member("verb", "list").member("group", "trainyard.dev").member("resource", "queues");
  } else {
    out.member("verb", "get").member("group", "trainyard.dev").member("resource", "trainingjobs");
    out.member("namespace", question.substr(kJobsIn.size()));
  }
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

bool allowed(std::string_view review) {
  const auto document = codec::JsonDocument::parse(review);
  if (!document) return false;
  const codec::JsonValue status = document->root().find("status");
  return status.find("allowed").boolean().value_or(false) && !status.find("denied").boolean().value_or(false);
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
  bool known = false;
  std::string user = {};
  std::string subject = {};  // of reviews: members of a JSON object
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
    const auto worth = [](const Caller& caller) { return std::pair(caller.known, caller.used); };
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
  kube::ApiRequest request{.method = net::Method::kPost, .path = kTokenReviews};
  request.body = tokenReview(caller->token);
  request.maxAnswerBytes = kMostAnswerBytes;
  api_.request(std::move(request), [this, caller, alive = alive_](base::Result<kube::ApiResponse> result) {
    if (!*alive) return;
    if (!result) return fail(caller, result.error());
    takeIdentity(*caller, result->body);
    askWide(caller);
  });
}

void Access::takeIdentity(Caller& caller, std::string_view review) const {
  const auto document = codec::JsonDocument::parse(review);
  const codec::JsonValue status = document ? document->root().find("status") : codec::JsonValue();
  const codec::JsonValue user = status.find("user");
  caller.user = std::string(user.find("username").string().value_or(""));
  caller.known = status.find("authenticated").boolean().value_or(false) && !caller.user.empty();
  caller.identityUntil = executor_.now() + (caller.known ? kAnswersLive : kRefusalsLive);
  codec::JsonWriter out;
  out.member("user", caller.user).member("uid", user.find("uid").string().value_or(""));
  for (const char* part : {"groups", "extra"}) {
    if (user.find(part).present()) out.key(part).raw(user.find(part).minified());
  }
  std::string subject = std::move(out).take();
  if (subject != caller.subject) caller.answers.clear();
  caller.subject = std::move(subject);
}

void Access::askWide(const CallerPtr& caller) {
  if (!caller->known)
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
    kube::ApiRequest request{.method = net::Method::kPost, .path = kAccessReviews};
    request.body = accessReview(caller->subject, question);
    request.maxAnswerBytes = kMostAnswerBytes;
    api_.request(std::move(request), [this, caller, round, question, then,
                                      alive = alive_](base::Result<kube::ApiResponse> result) {
      if (!*alive) return;
      if (result) {
        caller->answers[question] = {allowed(result->body), executor_.now() + kAnswersLive};
      } else {
        round->error = result.error();
      }
      if (--round->left > 0) return;
      if (round->error) return fail(caller, *round->error);
      (this->*then)(caller);
    });
  }
}

void Access::answer(const CallerPtr& caller) {
  caller->asking = false;
  Viewer viewer{.user = caller->user, .everywhere = caller->says(in(""))};
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
