#include "core/timeline/recently_freed.h"

#include <algorithm>
#include <map>

#include "core/ledger/node_misfit.h"

namespace trainyard::core {
namespace {

// The latest ends on a node.
struct Left {
  std::optional<base::WallTime> first;  // of the ends that may keep the node
  bool before = false;                  // the node was kept for earlier ends
};

using LeftNodes = std::map<model::NodeName, Left>;

void note(LeftNodes& nodes, const model::NodeName& node, base::WallTime ended, base::WallTime now,
          std::chrono::milliseconds keep) {
  const auto age = now - ended;
  if (age >= 2 * keep) return;
  Left& left = nodes[node];
  if (age >= keep)
    left.before = true;
  else
    left.first = std::min(left.first.value_or(ended), ended);
}

bool memberFits(const Ledger::NodeCapacity& capacity, const model::Job& job) {
  return std::any_of(job.spec.roles.begin(), job.spec.roles.end(), [&](const model::Role& role) {
    return capacity.free.covers(role.shape.requests) && !nodeRefusal(*capacity.node, role.shape);
  });
}

}  // namespace

RecentlyFreed recentlyFreed(const model::Snapshot& snapshot, const Ledger& ledger, const model::Job& head) {
  const auto keep = snapshot.policy.backfill.keepFreed;
  RecentlyFreed freed;
  if (keep.count() == 0) return freed;
  LeftNodes nodes;
  for (const model::FreedNode& each : snapshot.freed) note(nodes, each.node, each.at, snapshot.now, keep);
  for (const auto& [name, left] : nodes) {
    const auto node = ledger.find(name);
    if (!left.first || left.before || !node || !memberFits(ledger.nodes()[*node], head)) continue;
    freed.nodes.push_back(name);
    if (!freed.nextEnd || *left.first + keep < *freed.nextEnd) freed.nextEnd = *left.first + keep;
  }
  return freed;
}

}  // namespace trainyard::core
