#include "operator/policy_keeper.h"

#include <chrono>
#include <utility>

#include "base/file.h"

namespace trainyard::operator_ {
namespace {

constexpr std::chrono::seconds kPolicyCheck{2};

telemetry::Counter reloads(telemetry::MetricsRegistry& metrics, const char* result) {
  return metrics.counter("trainyard_policy_reloads_total", "Changes of the policy file, by outcome.",
                         {{"result", result}});
}

}  // namespace

PolicyKeeper::PolicyKeeper(std::string path, base::Executor& executor, telemetry::MetricsRegistry& metrics,
                           base::Logger log)
    : path_(std::move(path)),
      executor_(executor),
      log_(std::move(log)),
      taken_(reloads(metrics, "taken")),
      refused_(reloads(metrics, "refused")),
      lastGood_(metrics.gauge("trainyard_policy_last_reload_success",
                              "1 while the policy in use is the file's; 0 while the file cannot be used.")) {}

PolicyKeeper::~PolicyKeeper() { executor_.cancel(timer_); }

base::Result<std::unique_ptr<PolicyKeeper>> PolicyKeeper::open(const std::string& path,
                                                               base::Executor& executor,
                                                               telemetry::MetricsRegistry& metrics,
                                                               base::Logger log) {
  std::unique_ptr<PolicyKeeper> keeper(new PolicyKeeper(path, executor, metrics, std::move(log)));
  auto policy = keeper->read();
  if (!policy) return base::fail(policy.error());
  keeper->file_ = std::move(*policy);
  keeper->lastGood_.set(1);
  return keeper;
}

base::Result<codec::PolicyFile> PolicyKeeper::read() {
  auto text = base::readFile(path_);
  if (!text) return base::fail(text.error());
  text_ = std::move(*text);
  return codec::decodePolicyFile(text_, path_);
}

void PolicyKeeper::follow(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  lookAgain();
}

void PolicyKeeper::lookAgain() {
  timer_ = executor_.postAfter(kPolicyCheck, [this] {
    look();
    lookAgain();
  });
}

void PolicyKeeper::look() {
  const std::string before = text_;
  auto file = read();
  if (!file) return noteRefused(file.error().message);
  if (codec::gpuNamesOf(file->policy) != codec::gpuNamesOf(file_.policy))
    return noteRefused(path_ +
                       ": gpuResources and deviceClasses: are read only when a program starts; restart the "
                       "operator and the extender");
  const bool mended = !complaint_.empty();
  complaint_.clear();
  lastGood_.set(1);
  if (text_ == before && !mended) return;
  taken_.increment();
  log_.info("policy loaded", {{"file", path_}, {"changed", *file != file_ ? "yes" : "no"}});
  if (*file == file_) return;
  file_ = std::move(*file);
  if (callbacks_.taken) callbacks_.taken(file_);
}

void PolicyKeeper::noteRefused(const std::string& why) {
  if (complaint_ == why) return;
  complaint_ = why;
  refused_.increment();
  lastGood_.set(0);
  log_.error("policy not accepted; the last valid one stays in effect", {{"error", why}});
  if (callbacks_.refused) callbacks_.refused(why);
}

}  // namespace trainyard::operator_
