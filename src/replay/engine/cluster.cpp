#include "replay/engine/cluster.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "model/names.h"

namespace trainyard::replay {

GangShape tightShape(int gpus, int gpusOfLargestNode) {
  int each = std::min(gpus, gpusOfLargestNode);
  while (gpus % each != 0) --each;
  return {gpus / each, each};
}

std::int64_t gpusOf(const std::vector<ReplayNode>& nodes) {
  std::int64_t gpus = 0;
  for (const ReplayNode& node : nodes) gpus += node.gpus;
  return gpus;
}

int gpusOfLargest(const std::vector<ReplayNode>& nodes) {
  int largest = 0;
  for (const ReplayNode& node : nodes) largest = std::max(largest, node.gpus);
  return largest;
}

model::Snapshot replaySnapshot(const std::vector<ReplayNode>& nodes) {
  model::Snapshot snapshot;
  model::SharedList<model::Node>::Items items;
  for (const ReplayNode& each : nodes) {
    auto node = std::make_shared<model::Node>();
    node->name = model::NodeName(each.name);
    node->uid = model::Uid(each.name);
    node->ready = true;
    if (each.others) node->allocatable = *each.others;
    if (!each.others) node->allocatable.pods = each.gpus;
    node->allocatable.setExtended(model::names::kGpuResource, each.gpus);
    items.push_back(std::move(node));
  }
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  snapshot.nodes = model::SharedList<model::Node>(std::move(items));
  return snapshot;
}

base::Result<void> checkAllFit(const Trace& trace, const std::vector<ReplayNode>& nodes) {
  const int largest = gpusOfLargest(nodes);
  const std::int64_t capacity = gpusOf(nodes);
  for (const TraceJob& job : trace.jobs) {
    const GangShape shape = tightShape(job.gpus, largest);
    std::int64_t available = 0;
    for (const ReplayNode& node : nodes) available += node.gpus / shape.gpusEach;
    if (available >= shape.members) continue;
    return base::fail(
        base::ErrorCode::kInvalid,
        fmt::format("job {} wants {} GPUs as {} times {}: more than the whole cluster of {} has", job.name,
                    job.gpus, shape.members, shape.gpusEach, capacity));
  }
  return {};
}

}  // namespace trainyard::replay
