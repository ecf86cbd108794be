#include "operator/installation_check.h"

#include <utility>

#include <fmt/format.h>

#include "codec/lease.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

constexpr std::chrono::seconds kAgain{1};

// A pod that does not exist, with no node offered: the extender holds nothing and returns an empty answer.
constexpr std::string_view kFilterBody =
    R"({"Pod":{"metadata":{"name":"installation-check","namespace":"default","uid":"installation-check"},)"
    R"("spec":{"containers":[{"name":"c","image":"c"}]}},"NodeNames":[]})";

}  // namespace

InstallationCheck::InstallationCheck(Target target, kube::ApiClient& api, net::HttpClient* extender,
                                     base::Executor& executor, base::Logger log,
                                     std::chrono::seconds patience,
                                     std::function<void(base::Result<void>)> done)
    : target_(std::move(target)),
      api_(api),
      extender_(extender),
      executor_(executor),
      log_(std::move(log)),
      patience_(patience),
      done_(std::move(done)) {
  addKind("TrainingJobs are served", kube::kTrainingJobs.collection());
  addKind("Queues are served", kube::kQueues.collection());
  addLease();
  if (extender_ != nullptr) addExtender();
}

InstallationCheck::~InstallationCheck() {
  *alive_ = false;
  executor_.cancel(timer_);
}

void InstallationCheck::start() {
  latest_ = executor_.now() + patience_;
  askNext();
}

void InstallationCheck::addKind(std::string what, std::string path) {
  questions_.push_back({std::move(what), [this, path = std::move(path)](auto judged) {
                          kube::ApiRequest request{.path = path, .query = {{"limit", "1"}}};
                          api_.request(std::move(request),
                                       [judged](const base::Result<kube::ApiResponse>& answer) {
                                         judged(answer ? "" : answer.error().message);
                                       });
                        }});
}

// A renewed lease has another renewTime a few seconds later. Clocks are not compared.
void InstallationCheck::addLease() {
  const std::string path = kube::kLeases.object(target_.leaseNamespace, target_.leaseName);
  questions_.push_back({"an operator leads", [this, path](auto judged) {
                          api_.get(path, [this, judged](const base::Result<kube::ApiResponse>& answer) {
                            if (!answer) return judged(answer.error().message);
                            const auto lease = codec::decodeLease(answer->body);
                            if (!lease) return judged(lease.error().message);
                            if (lease->record.holderIdentity.empty())
                              return judged("the Lease has no holder");
                            const std::string& time = lease->record.renewTime;
                            if (renewed_.empty()) renewed_ = time;
                            judged(time == renewed_ ? fmt::format("{} has not renewed the Lease since {}",
                                                                  lease->record.holderIdentity, time)
                                                    : "");
                          });
                        }});
}

void InstallationCheck::addExtender() {
  questions_.push_back(
      {"the extender answers kube-scheduler's certificate", [this](auto judged) {
         net::HttpRequest request{.method = net::Method::kPost,
                                  .target = "/v1/extender/filter",
                                  .headers = {{"Content-Type", "application/json"}},
                                  .body = std::string(kFilterBody),
                                  .timeout = std::chrono::seconds(5)};
         extender_->send(std::move(request), [judged](const base::Result<net::HttpResponse>& answer) {
           if (!answer) return judged(answer.error().message);
           judged(answer->status == 200 ? ""
                                        : fmt::format("it answers {}: {}", answer->status, answer->body));
         });
       }});
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
