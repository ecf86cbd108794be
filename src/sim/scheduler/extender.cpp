#include "sim/scheduler/extender.h"

#include <algorithm>
#include <string_view>

#include "core/guard/guard.h"

namespace trainyard::sim {
namespace {

std::vector<std::string_view> viewsOf(const std::vector<std::string>& names) {
  return std::vector<std::string_view>(names.begin(), names.end());
}

}  // namespace

GuardExtender::GuardExtender(kube::ApiClient& api, base::Executor& executor, base::Rng rng,
                             const base::Logger& log)
    : api_(api), executor_(executor), rng_(rng), log_(log), cache_(log.named("extender-cache")) {
  cache_.onAnyChange([this] { view_.reset(); });
  cache_.pods.onChange([this](const auto& before, const auto& after) { podChanged(before, after); });
}

void GuardExtender::start() {
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(kube::ReflectorOptions{.type = type}, api_,
                                                            executor_, rng_.split(),
                                                            log_.named("extender-reflector"), sink));
    reflectors_.back()->start();
  };
  add(kube::kNodes, cache_.nodes);
  add(kube::kPods, cache_.pods);
  add(kube::kTrainingJobs, cache_.jobs.trainingJobs);
  add(kube::kGangs, cache_.jobs.gangs);
}

void GuardExtender::setUp(bool up) {
  if (up == up_) return;
  up_ = up;
  reflectors_.clear();
  holds_ = {};
  if (up) start();
}

bool GuardExtender::synced() const {
  return up_ &&
         std::all_of(reflectors_.begin(), reflectors_.end(), [](const auto& each) { return each->synced(); });
}

// A hold covers what the watch does not show yet: it ends when the pod is seen bound, or is gone.
void GuardExtender::podChanged(const std::shared_ptr<const model::Pod>& before,
                               const std::shared_ptr<const model::Pod>& after) {
  if (before && (!after || after->uid != before->uid)) holds_.drop(before->uid);
  if (after && (after->bound() || after->finished())) holds_.drop(after->uid);
}

const core::GuardView& GuardExtender::view() {
  holds_.expire(executor_.now());
  if (!view_) view_ = std::make_unique<core::GuardView>(cache_.snapshot(executor_.wallNow()));
  return *view_;
}

base::Result<SchedulerExtender::Verdict> GuardExtender::filter(const model::Pod& pod,
                                                               const std::vector<std::string>& nodes) {
  if (!synced())
    return base::fail(base::ErrorCode::kUnavailable,
                      up_ ? "trainyard: the caches have not been filled yet" : "the extender is down");
  const std::vector<std::string_view> names = viewsOf(nodes);
  const core::GuardView& known = view();
  auto decision = core::filter(known, holds_, pod, names);
  if (!decision) return base::fail(decision.error());
  if (decision->hold) {
    holds_.put(pod.uid, {*decision->hold, pod.shape.requests, executor_.now() + kHoldTime});
  } else {
    holds_.drop(pod.uid);
  }
  Verdict verdict;
  verdict.accepted.assign(decision->accepted.begin(), decision->accepted.end());
  for (const core::NodeRefusal& refusal : decision->refused) {
    verdict.refused.emplace_back(refusal.node, refusal.message);
  }
  return verdict;
}

std::vector<int> GuardExtender::prioritize(const model::Pod& pod, const std::vector<std::string>& nodes) {
  return core::prioritize(view(), holds_, pod, viewsOf(nodes));
}

}  // namespace trainyard::sim
