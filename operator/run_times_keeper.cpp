#include "operator/run_times_keeper.h"

#include <chrono>
#include <utility>

#include "codec/run_times.h"
#include "core/order/run_times.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

constexpr base::Instant::duration kRunTimesCheck = std::chrono::minutes(1);
constexpr base::Instant::duration kBetweenWrites = std::chrono::minutes(5);

}  // namespace

RunTimesKeeper::RunTimesKeeper(Options options, Dependencies dependencies)
    : options_(std::move(options)), deps_(std::move(dependencies)) {}

RunTimesKeeper::~RunTimesKeeper() {
  *alive_ = false;
  deps_.executor.cancel(timer_);
}

kube::ApiCallback RunTimesKeeper::guarded(void (RunTimesKeeper::*then)(const Answer&)) {
  return [self = this, alive = alive_, then](const Answer& answer) {
    if (*alive) (self->*then)(answer);
  };
}

void RunTimesKeeper::start() { look(); }

void RunTimesKeeper::look() {
  if (!known_) return read();
  learn();
  if (unwritten_ && deps_.executor.now() >= nextWrite_) return write();
  again();
}

void RunTimesKeeper::again() {
  timer_ = deps_.executor.postAfter(kRunTimesCheck, [this] { look(); });
}

void RunTimesKeeper::learn() {
  auto times = current_ ? *current_ : model::RunTimes{};
  if (!core::learn(times, deps_.cache.snapshot(deps_.executor.wallNow()).jobs)) return;
  current_ = std::make_shared<const model::RunTimes>(std::move(times));
  unwritten_ = true;
  deps_.changed();
}

void RunTimesKeeper::read() {
  deps_.api.get(kube::kConfigMaps.object(options_.ns, options_.name), guarded(&RunTimesKeeper::taken));
}

void RunTimesKeeper::taken(const Answer& answer) {
  if (!answer && answer.error().code != base::ErrorCode::kNotFound) {
    deps_.log.warning("run times not read", {{"error", answer.error().message}});
    return again();
  }
  known_ = true;
  resourceVersion_.clear();
  if (!answer) return look();
  auto stored = codec::decodeRunTimes(answer->body);
  if (!stored) {
    deps_.log.warning("run times not read", {{"error", stored.error().message}});
    known_ = false;
    return again();
  }
  resourceVersion_ = stored->resourceVersion;
  if (!stored->complaint.empty()) {
    deps_.log.warning("run times reset: the stored ones cannot be used",
                      {{"configMap", options_.ns + "/" + options_.name}, {"error", stored->complaint}});
    unwritten_ = true;
  }
  auto times = current_ ? *current_ : model::RunTimes{};
  if (core::merge(times, stored->times)) {
    unwritten_ = unwritten_ || current_ != nullptr;
    current_ = std::make_shared<const model::RunTimes>(std::move(times));
    deps_.changed();
  }
  look();
}

void RunTimesKeeper::write() {
  const model::RunTimes times = current_ ? *current_ : model::RunTimes{};
  nextWrite_ = deps_.executor.now() + kBetweenWrites;
  if (resourceVersion_.empty()) {
    deps_.api.create(kube::kConfigMaps.collection(options_.ns), codec::encodeRunTimes(options_.name, times),
                     guarded(&RunTimesKeeper::written));
    return;
  }
  deps_.api.patch(kube::PatchType::kMerge, kube::kConfigMaps.object(options_.ns, options_.name),
                  codec::encodeRunTimesPatch(resourceVersion_, times), guarded(&RunTimesKeeper::written));
}

// After any error, the ConfigMap is read again before the next write.
void RunTimesKeeper::written(const Answer& answer) {
  if (answer) {
    unwritten_ = false;
    if (auto stored = codec::decodeRunTimes(answer->body)) resourceVersion_ = stored->resourceVersion;
    return again();
  }
  known_ = false;
  deps_.log.warning("run times not written", {{"error", answer.error().message}});
  again();
}

}  // namespace trainyard::operator_
