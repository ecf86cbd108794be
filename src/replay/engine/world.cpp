#include "replay/engine/world.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/names.h"
#include "replay/engine/cluster.h"
#include "replay/engine/meter.h"

namespace trainyard::replay {

model::Snapshot worldOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                        const ReplaySetup& setup) {
  model::Snapshot world = replaySnapshot(cluster);
  world.policy = setup.policy;
  world.policy.topology = {{"node", std::string(model::names::kHostnameLabel)}};
  const auto add = [&](const std::string& name, std::int64_t weight, std::int64_t guaranteed) {
    auto queue = std::make_shared<model::Queue>();
    queue->name = model::QueueName(name);
    queue->uid = model::Uid(name);
    queue->weight = weight;
    // In strict order no job is preempted, so no queue lends capacity.
    if (setup.policy.backfill.enabled && guaranteed > 0)
      queue->guaranteed.set(model::names::kGpuResource, guaranteed);
    queue->reclaim = setup.policy.backfill.enabled;
    world.queues.push_back(std::move(queue));
  };
  if (hasOneQueue(trace, setup)) {
    add(kOnlyQueue, 1, 0);
    return world;
  }
  constexpr double kWeights = 1'000;
  const auto capacity = static_cast<double>(gpusOf(cluster));
  const std::vector<double> parts = queueParts(trace);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    add(trace.queues[i], std::max<std::int64_t>(std::llround(parts[i] * kWeights), 1),
        static_cast<std::int64_t>(parts[i] * capacity));
  }
  return world;
}

base::Result<void> checkFit(const Trace& trace, const std::vector<ReplayNode>& cluster,
                            const ReplaySetup& setup) {
  if (!setup.elastic) return checkAllFit(trace, cluster);
  Trace rigid;
  const model::Snapshot snapshot = replaySnapshot(cluster);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const auto range = setup.elastic->range(i);
    if (!range) {
      rigid.jobs.push_back(trace.jobs[i]);
      continue;
    }
    std::int64_t available = 0;
    for (const auto& node : snapshot.nodes)
      available += node->allocatable.timesCovered(range->member, range->minimum);
    if (available >= range->minimum) continue;
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("job {} wants {} members at least: the whole cluster can hold {}",
                                  trace.jobs[i].name, range->minimum, available));
  }
  return checkAllFit(rigid, cluster);
}

}  // namespace trainyard::replay
