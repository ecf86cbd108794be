#include "operator/free_gpu_metrics.h"

#include <algorithm>
#include <utility>

#include "core/ledger.h"
#include "core/place.h"

namespace trainyard::operator_ {

FreeGpuMetrics::FreeGpuMetrics(telemetry::MetricsRegistry& registry, base::Executor& executor,
                               Offload offload, std::function<model::Snapshot()> snapshot)
    : free_(registry.gauge("trainyard_gpus_free",
                           "GPUs of schedulable nodes that are neither held nor reserved.")),
      fragmentation_(
          registry.gauge("trainyard_fragmentation_ratio",
                         "Free GPUs that a member drawn at random from all jobs cannot use where they are, "
                         "as a part of all free GPUs; 0 if none is free or no job requests any.")),
      executor_(executor),
      offload_(std::move(offload)),
      snapshot_(std::move(snapshot)) {}

void FreeGpuMetrics::changed() {
  if (std::exchange(due_, true) || looking_) return;
  executor_.postAt(std::max(next_, executor_.now()), [this, alive = alive_] {
    if (*alive) look();
  });
}

void FreeGpuMetrics::look() {
  due_ = false;
  looking_ = true;
  next_ = executor_.now() + kEvery;
  auto work = [this, snapshot = snapshot_(), alive = alive_]() -> base::Task {
    const core::ClusterFragmentation found =
        core::clusterFragmentation(core::Ledger(snapshot), core::observedMix(snapshot.jobs));
    return [this, found, alive] {
      if (!*alive) return;
      free_.set(static_cast<double>(found.freeGpus));
      fragmentation_.set(static_cast<double>(found.fragmentedPermille) / 1000);
      looking_ = false;
      if (std::exchange(due_, false)) changed();
    };
  };
  if (offload_) return offload_(std::move(work));
  work()();
}

}  // namespace trainyard::operator_
