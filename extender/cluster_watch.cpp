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
  return std::tie(pod.uid, pod.node, pod.pinned, pod.gated, pod.phase, pod.shape.requests, pod.controllerUid,
                  pod.controllerKind);
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
      cache_(log),
      nodes_({.type = kube::kNodes}, api, executor, rng.split(), log, cache_.nodes),
      pods_({.type = kube::kPods}, api, executor, rng.split(), log, cache_.pods),
      jobs_({.type = kube::kTrainingJobs}, api, executor, rng.split(), log, cache_.jobs) {
  cache_.nodes.onChange([this](const auto&, const auto&) { scheduleBuild(); });
  cache_.jobs.onChange([this](const auto&, const auto&) { scheduleBuild(); });
  cache_.pods.onChange([this](const auto& before, const auto& after) { podChanged(before, after); });
}

ClusterWatch::~ClusterWatch() { stop(); }

void ClusterWatch::start() {
  nodes_.start();
  pods_.start();
  jobs_.start();
  awaitSync();
}

void ClusterWatch::stop() {
  nodes_.stop();
  pods_.stop();
  jobs_.stop();
  executor_.cancel(timer_);
}

bool ClusterWatch::synced() const { return nodes_.synced() && pods_.synced() && jobs_.synced(); }

// An empty cluster triggers no change, so synced() is polled.
void ClusterWatch::awaitSync() {
  if (synced()) return build();
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
  model::Snapshot snapshot = cache_.snapshot(executor_.wallNow());
  ledger_.follow(snapshot);
  auto view = std::make_shared<const core::GuardView>(std::move(snapshot), ledger_);
  publish_(std::move(view), std::exchange(settled_, {}));
  const base::Instant end = executor_.now();
  lastBuild_ = end;
  nextBuild_ = end + kRestPerWork * (end - begin);
  metrics_.viewBuild.observe(secondsOf(end - begin));
  if (!published_.exchange(true)) {
    log_.info("caches are synced",
              {{"nodes", cache_.nodes.size()}, {"pods", cache_.pods.size()}, {"jobs", cache_.jobs.size()}});
  }
}

std::optional<base::Instant> ClusterWatch::lastContact() const {
  if (!synced()) return std::nullopt;
  return std::min({nodes_.lastHeard(), pods_.lastHeard(), jobs_.lastHeard()});
}

void ClusterWatch::reportMetrics() {
  const base::Instant now = executor_.now();
  const auto report = [now](const ExtenderMetrics::Resource& to, std::size_t objects,
                            const kube::Reflector& from) {
    to.objects.set(static_cast<double>(objects));
    if (from.synced()) to.silence.set(secondsOf(now - from.lastHeard()));
  };
  report(metrics_.nodes, cache_.nodes.size(), nodes_);
  report(metrics_.pods, cache_.pods.size(), pods_);
  report(metrics_.jobs, cache_.jobs.size(), jobs_);
  if (published_) metrics_.viewAge.set(secondsOf(now - lastBuild_));
  const std::size_t undecodable = cache_.undecodable();
  metrics_.undecodable.increment(
      static_cast<double>(undecodable - std::exchange(undecodableSeen_, undecodable)));
}

}  // namespace trainyard::extender
