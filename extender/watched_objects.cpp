#include "extender/watched_objects.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainyard::extender {

WatchedObjects::WatchedObjects(kube::ApiClient& api, base::Executor& executor, base::Rng rng,
                               const base::Logger& log, std::function<void()> devicesChanged)
    : api_(api),
      executor_(executor),
      rng_(rng),
      cache_(log),
      devices_(cache_, log, std::move(devicesChanged)),
      nodes_({.type = kube::kNodes}, api, executor, rng_.split(), log, cache_.nodes),
      pods_({.type = kube::kPods}, api, executor, rng_.split(), log, cache_.pods),
      jobs_({.type = kube::kTrainingJobs}, api, executor, rng_.split(), log, cache_.jobs.trainingJobs),
      gangs_({.type = kube::kGangs}, api, executor, rng_.split(), log, cache_.jobs.gangs) {}

void WatchedObjects::start() {
  nodes_.start();
  pods_.start();
  jobs_.start();
  gangs_.start();
  devices_.start(api_, executor_, rng_);
}

void WatchedObjects::stop() {
  nodes_.stop();
  pods_.stop();
  jobs_.stop();
  gangs_.stop();
  devices_.stop();
}

bool WatchedObjects::synced() const {
  return nodes_.synced() && pods_.synced() && jobs_.synced() && gangs_.synced() && devices_.settled();
}

std::optional<base::Instant> WatchedObjects::lastContact() const {
  if (!synced()) return std::nullopt;
  return std::min({nodes_.lastHeard(), pods_.lastHeard(), jobs_.lastHeard(), gangs_.lastHeard(),
                   devices_.lastHeard(executor_.now())});
}

void WatchedObjects::report(ExtenderMetrics& metrics, base::Instant now) {
  const auto report = [now](const ExtenderMetrics::Resource& to, std::size_t objects,
                            const kube::Reflector& from) {
    to.objects.set(static_cast<double>(objects));
    if (from.synced()) to.silence.set(std::chrono::duration<double>(now - from.lastHeard()).count());
  };
  report(metrics.nodes, cache_.nodes.size(), nodes_);
  report(metrics.pods, cache_.pods.size(), pods_);
  report(metrics.jobs, cache_.jobs.trainingJobs.size(), jobs_);
  report(metrics.gangs, cache_.jobs.gangs.size(), gangs_);
  const std::size_t undecodable = cache_.undecodable();
  metrics.undecodable.increment(
      static_cast<double>(undecodable - std::exchange(undecodableSeen_, undecodable)));
}

}  // namespace trainyard::extender
