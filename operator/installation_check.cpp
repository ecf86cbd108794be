#include "operator/installation_check.h"

#include <utility>

#include <fmt/format.h>

#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

constexpr std::chrono::seconds kAgain{1};

}  // namespace

InstallationCheck::InstallationCheck(const Target& target, kube::ApiClient& api, net::HttpClient* extender,
                                     base::Executor& executor, base::Logger log,
                                     std::chrono::seconds patience,
                                     std::function<void(base::Result<void>)> done)
    : executor_(executor), log_(std::move(log)), patience_(patience), done_(std::move(done)) {
  questions_.push_back(kindIsServed("TrainingJobs are served", kube::kTrainingJobs.collection(), api));
  questions_.push_back(kindIsServed("Queues are served", kube::kQueues.collection(), api));
  questions_.push_back(operatorLeads(kube::kLeases.object(target.leaseNamespace, target.leaseName), api));
  if (extender != nullptr) questions_.push_back(extenderAnswers(*extender));
}

InstallationCheck::~InstallationCheck() {
  *alive_ = false;
  executor_.cancel(timer_);
}

void InstallationCheck::start() {
  latest_ = executor_.now() + patience_;
  askNext();
}

void InstallationCheck::askNext() {
  if (next_ == questions_.size()) return done_({});
  questions_[next_].ask([this, alive = alive_](const std::string& problem) {
    if (*alive) answered(problem);
  });
}

void InstallationCheck::answered(const std::string& problem) {
  const std::string& what = questions_[next_].what;
  if (problem.empty()) {
    log_.info("check passed", {{"what", what}});
    ++next_;
    return askNext();
  }
  if (executor_.now() >= latest_) {
    return done_(
        base::fail(base::ErrorCode::kUnavailable, fmt::format("check failed: {}: {}", what, problem)));
  }
  timer_ = executor_.postAfter(kAgain, [this] { askNext(); });
}

}  // namespace trainyard::operator_
