#include "extender/cluster_watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainyard::extender {
namespace {

constexpr std::chrono::milliseconds kSyncPoll{20};
constexpr std::chrono::milliseconds kGather{5};
constexpr int kRestPerWork = 4;

// The fields that a view depends on. Excludes conditions and container states, which change most often.
auto guardFields(const model::Pod& pod) {
  return std::tie(pod.uid, pod.node, pod.pinned, pod.gated, pod.phase, pod.shape.requests,
                  pod.shape.deviceClaims, pod.controllerUid, pod.controllerKind, pod.gangUid);
}

bool sameMember(const std::optional<model::MemberLabels>& a, const std::optional<model::MemberLabels>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::tie(a->jobName, a->role, a->index, a->epoch) ==
         std::tie(b->jobName, b->role, b->index, b->epoch);
}

double secondsOf(base::Instant::duration span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

ClusterWatch::ClusterWatch(kube::ApiClient& api, base::Executor& executor, base::Rng rng,
                           const base::Logger& log, ExtenderMetrics& metrics, Publish publish)
    : executor_(executor),
      log_(log),
      metrics_(metrics),
      publish_(std::move(publish)),
      objects_(api, executor, rng, log, [this] { scheduleBuild(); }) {
  kube::ClusterCache& cache = objects_.cache();
  cache.nodes.onChange([this](const auto&, const auto&) { scheduleBuild(); });
  cache.jobs.onChange([this](const auto&, const auto&) { scheduleBuild(); });
  cache.pods.onChange([this](const auto& before, const auto& after) { podChanged(before, after); });
}

ClusterWatch::~ClusterWatch() { stop(); }

void ClusterWatch::start() {
  objects_.start();
  awaitSync();
}

void ClusterWatch::stop() {
  objects_.stop();
  executor_.cancel(timer_);
}

// An empty cluster triggers no change, so the lists are polled.
void ClusterWatch::awaitSync() {
  if (objects_.synced()) return build();
  timer_ = executor_.postAfter(kSyncPoll, [this] { awaitSync(); });
}

void ClusterWatch::podChanged(const std::shared_ptr<const model::Pod>& before,
                              const std::shared_ptr<const model::Pod>& after) {
  if (!published_) return;  // no node was offered yet, so no hold exists
  const bool replaced = before && after && before->uid != after->uid;
  if (before && (!after || replaced)) settled_.push_back(before->uid);
  if (after && (after->bound() || after->finished()) && !(before && before->bound() && !replaced)) {
    settled_.push_back(after->uid);
  }
  const bool matters = !before || !after || guardFields(*before) != guardFields(*after) ||
                       !sameMember(before->member, after->member);
  if (matters) scheduleBuild();
}

void ClusterWatch::scheduleBuild() {
  if (!published_ || buildScheduled_) return;
  buildScheduled_ = true;
  timer_ = executor_.postAt(std::max(nextBuild_, executor_.now() + kGather), [this] { build(); });
}

void ClusterWatch::build() {
  buildScheduled_ = false;
  const base::Instant begin = executor_.now();
  model::Snapshot snapshot = objects_.cache().snapshot(executor_.wallNow());
  objects_.devices().overlay(snapshot);
  objects_.devices().overlayJobs(snapshot);
  ledger_.follow(snapshot);
  auto view = std::make_shared<const core::GuardView>(std::move(snapshot), ledger_);
  publish_({std::move(view), objects_.devices().facts()}, std::exchange(settled_, {}));
  const base::Instant end = executor_.now();
  lastBuild_ = end;
  nextBuild_ = end + kRestPerWork * (end - begin);
  metrics_.viewBuild.observe(secondsOf(end - begin));
  if (!published_.exchange(true)) {
    const kube::ClusterCache& cache = objects_.cache();
    log_.info("caches are synced",
              {{"nodes", cache.nodes.size()}, {"pods", cache.pods.size()}, {"jobs", cache.jobs.size()}});
  }
}

void ClusterWatch::reportMetrics() {
  const base::Instant now = executor_.now();
  objects_.report(metrics_, now);
  if (published_) metrics_.viewAge.set(secondsOf(now - lastBuild_));
}

}  // namespace trainyard::extender
