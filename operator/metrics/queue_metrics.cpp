#include "operator/metrics/queue_metrics.h"

#include <algorithm>
#include <cstdint>

#include "model/charge.h"
#include "model/managed_by.h"
#include "model/names.h"
#include "operator/metrics/pending_since.h"
#include "operator/metrics/placement_bounds.h"

namespace trainyard::operator_ {
namespace {

constexpr std::string_view kWaitSeconds = "trainyard_job_wait_seconds";

}  // namespace

void QueueMetrics::describe(const model::Snapshot& snapshot) {
  std::map<std::string, double> gpus;
  std::map<std::string, double> share;
  std::map<std::string, double> fairShare;
  std::map<std::string, double> waiting;
  std::map<std::string, double> placed;
  std::map<std::string, double> deficit;
  std::map<std::string, double> oldest;
  for (const auto& queue : snapshot.queues) {
    const model::QueueStatus& status = queue->status;
    const std::string& name = queue->name.str();
    const auto used = status.gpus ? status.gpus->used : status.usage.amount(model::names::kGpuResource);
    gpus[name] = static_cast<double>(used);
    share[name] = static_cast<double>(status.share) / 1000;
    fairShare[name] = static_cast<double>(status.fairShare) / 1000;
    waiting[name] = status.waiting;
    placed[name] = status.placed;
    // A queue without pending jobs has no deficit.
    const auto guaranteed = status.gpus ? status.gpus->guaranteed : 0;
    deficit[name] =
        status.waiting > 0 ? static_cast<double>(std::max<std::int64_t>(guaranteed - used, 0)) : 0;
    oldest[name] = 0;
  }
  for (const auto& job : snapshot.jobs) {
    if (!job->status.pending || job->finished() || job->spec.run.suspend || model::managedByOther(*job))
      continue;
    const auto found = oldest.find(model::shownQueue(*job).str());
    if (found == oldest.end()) continue;
    const double since = sinceEpoch(pendingSince(*job));
    found->second = found->second == 0 ? since : std::min(found->second, since);
  }
  publishQueues(gpus_, gpus, "trainyard_queue_gpus", "GPUs that a queue and those below it hold.");
  publishQueues(share_, share, "trainyard_queue_share_ratio",
                "Share of the cluster that a queue holds of its dominant resource.");
  publishQueues(fairShare_, fairShare, "trainyard_queue_fair_share_ratio",
                "Fair share of a queue, as a part of the cluster.");
  publishQueues(waiting_, waiting, "trainyard_queue_waiting_jobs",
                "Pending jobs of a queue and of those below it.");
  publishQueues(placed_, placed, "trainyard_queue_placed_jobs",
                "Placed jobs of a queue and of those below it.");
  publishQueues(deficit_, deficit, "trainyard_queue_guarantee_deficit_gpus",
                "GPUs that a queue is guaranteed and does not hold while its jobs are pending.");
  publishQueues(
      oldest_, oldest, "trainyard_queue_oldest_waiting_timestamp_seconds",
      "Since when the longest pending job of a queue is pending, in seconds since 1970; 0 without any.");
  forgetWaits(snapshot);
}

void QueueMetrics::forgetWaits(const model::Snapshot& snapshot) {
  for (auto each = waits_.begin(); each != waits_.end();) {
    // `default` need not exist as an object.
    const bool exists = each->first == model::names::kDefaultQueue ||
                        std::any_of(snapshot.queues.begin(), snapshot.queues.end(),
                                    [&](const auto& queue) { return queue->name.str() == each->first; });
    if (exists) {
      ++each;
      continue;
    }
    registry_.remove(kWaitSeconds, {{"queue", each->first}}, each->second);
    each = waits_.erase(each);
  }
}

void QueueMetrics::publishQueues(GaugesByQueue& gauges, const std::map<std::string, double>& values,
                                 std::string_view name, std::string_view help) {
  // Removes old series first, so that the limit on series does not lock out new ones.
  for (auto each = gauges.begin(); each != gauges.end();) {
    if (values.contains(each->first)) {
      ++each;
      continue;
    }
    registry_.remove(name, {{"queue", each->first}}, each->second);
    each = gauges.erase(each);
  }
  for (const auto& [queue, value] : values) {
    auto found = gauges.find(queue);
    if (found == gauges.end())
      found = gauges.emplace(queue, registry_.gauge(name, help, {{"queue", queue}})).first;
    found->second.set(value);
  }
}

void QueueMetrics::observeWait(const std::string& queue, double seconds) {
  auto found = waits_.find(queue);
  if (found == waits_.end()) {
    found = waits_
                .emplace(queue, registry_.histogram(
                                    kWaitSeconds,
                                    "How long jobs of a queue were pending, each time that one was placed.",
                                    kPlacementBounds, {{"queue", queue}}))
                .first;
  }
  found->second.observe(seconds);
}

}  // namespace trainyard::operator_
