#include "operator/metrics/placement_metrics.h"

#include <algorithm>
#include <chrono>

#include "operator/metrics/pending_since.h"
#include "operator/metrics/placement_bounds.h"

namespace trainyard::operator_ {
namespace {

telemetry::Counter delays(telemetry::MetricsRegistry& registry, const char* cause) {
  return registry.counter("trainyard_job_delay_seconds_total",
                          "Time for which jobs were pending, in waits that are over, by cause.",
                          {{"cause", cause}});
}

// A single-pod job is placed before its record is written: its pod stands for the record.
bool wasPlaced(const model::Job& job) { return job.status.gang.placed && !job.recordUnwritten; }

}  // namespace

PlacementMetrics::PlacementMetrics(telemetry::MetricsRegistry& registry, QueueMetrics& queues)
    : queues_(queues),
      placementSeconds_(registry.histogram(
          "trainyard_job_placement_seconds",
          "Time from a TrainingJob's creation until its whole gang is bound for the first time.",
          kPlacementBounds)),
      fairShareDelay_(delays(registry, "FairShare")),
      fragmentationDelay_(delays(registry, "Fragmentation")) {}

void PlacementMetrics::note(const model::Job& before, const model::JobStatus& after, base::WallTime now) {
  noteDelays(before.status, after);
  if (!after.gang.placed || wasPlaced(before)) return;
  // The status of a single-pod job may be written later than the job was placed.
  const base::WallTime placed = before.recordUnwritten ? after.service.updatedAt : now;
  const auto waited = [&](base::WallTime since) {
    return std::chrono::duration<double>(std::max(placed - since, base::WallTime::duration::zero())).count();
  };
  queues_.observeWait(before.spec.queue.str(), waited(pendingSince(before)));
  // A job that was placed before has service.updatedAt, even after less than a second of service.
  if (before.status.service.updatedAt == base::WallTime{}) placementSeconds_.observe(waited(before.created));
}

void PlacementMetrics::noteDelays(const model::JobStatus& before, const model::JobStatus& after) {
  const auto longer = [](std::chrono::seconds was, std::chrono::seconds is) {
    return static_cast<double>(std::max(is - was, std::chrono::seconds(0)).count());
  };
  fairShareDelay_.increment(longer(before.delays.fairShare, after.delays.fairShare));
  fragmentationDelay_.increment(longer(before.delays.fragmentation, after.delays.fragmentation));
}

}  // namespace trainyard::operator_
