#include "sim/scheduler/node_chooser.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/ledger/node_misfit.h"
#include "model/one_per_node.h"

namespace trainyard::sim {
namespace {

using core::NodeMisfitReason;

// The messages of kube-scheduler's plug-ins.
std::string pluginText(const core::NodeMisfit& misfit) {
  switch (misfit.reason) {
    case NodeMisfitReason::kDeleting:
    case NodeMisfitReason::kCordoned: return "node(s) were unschedulable";
    case NodeMisfitReason::kNotReady:
    case NodeMisfitReason::kNodeTrouble:
    case NodeMisfitReason::kTaint: return "node(s) had untolerated taint(s)";
    case NodeMisfitReason::kNodeSelector:
    case NodeMisfitReason::kAffinity: return "node(s) didn't match Pod's node affinity/selector";
    case NodeMisfitReason::kVolume: return "node(s) didn't match PersistentVolume's node affinity";
  }
  return {};
}

// One text for each resource that does not fit, as NodeResourcesFit counts them.
std::vector<std::string> insufficient(model::Resources free, const model::Resources& wanted) {
  std::vector<std::string> texts;
  if (free.pods < wanted.pods) texts.emplace_back("Too many pods");
  if (wanted.cpu.value > 0 && free.cpu < wanted.cpu) texts.emplace_back("Insufficient cpu");
  if (wanted.memory.value > 0 && free.memory < wanted.memory) texts.emplace_back("Insufficient memory");
  if (wanted.ephemeralStorage.value > 0 && free.ephemeralStorage < wanted.ephemeralStorage) {
    texts.emplace_back("Insufficient ephemeral-storage");
  }
  for (const auto& [name, amount] : wanted.extendedAll()) {
    if (model::isOnePerNode(name)) {
      if (free.extended(name) + 1 >= amount) continue;
      const bool port = name.starts_with(model::kHostPortPrefix);
      texts.emplace_back(port ? "node(s) didn't have free ports for the requested pod ports"
                              : "node(s) didn't match pod anti-affinity rules");
    } else if (free.extended(name) < amount) {
      texts.push_back(fmt::format("Insufficient {}", name));
    }
  }
  return texts;
}

// The share of a node that is left, in hundredths: NodeResourcesFit's LeastAllocated over cpu and memory.
std::int64_t leftOver(std::int64_t free, std::int64_t wanted, std::int64_t total) {
  return total <= 0
             ? 0
             : std::clamp<std::int64_t>((free - wanted) / std::max<std::int64_t>(total / 100, 1), 0, 100);
}

}  // namespace

NodeSearch NodeChooser::filter(const model::Pod& pod) const {
  NodeSearch search;
  for (const auto& node : nodes_.all()) {
    ++search.total;
    if (pod.pinned && *pod.pinned != node->name) {
      // The affinity's PreFilter leaves only one node.
      ++search.refusals["node(s) didn't satisfy plugin(s) [NodeAffinity]"];
      continue;
    }
    if (const auto misfit = core::nodeMisfit(*node, pod.shape)) {
      ++search.refusals[pluginText(*misfit)];
      continue;
    }
    const auto missing = insufficient(usage_.freeOn(*node), pod.shape.requests);
    for (const std::string& text : missing) ++search.refusals[text];
    if (missing.empty()) search.left.push_back(node->name.str());
  }
  return search;
}

base::Result<NodeSearch> NodeChooser::search(const model::Pod& pod) const {
  NodeSearch search = filter(pod);
  if (search.left.empty() || !asksExtender(pod)) return search;
  auto verdict = extender_->filter(pod, search.left);
  if (!verdict) return base::fail(verdict.error());
  search.byExtender = !verdict->refused.empty();
  for (const auto& [node, message] : verdict->refused) ++search.refusals[message];
  search.left = std::move(verdict->accepted);
  return search;
}

model::NodeName NodeChooser::best(const model::Pod& pod, const NodeSearch& search) const {
  if (search.left.size() == 1) return model::NodeName(search.left.front());
  const std::vector<int> advice =
      asksExtender(pod) ? extender_->prioritize(pod, search.left) : std::vector<int>(search.left.size(), 0);
  std::tuple<std::int64_t, std::string> best{1, {}};
  for (std::size_t i = 0; i < search.left.size(); ++i) {
    const auto node = nodes_.find(model::NodeName(search.left[i]));
    const model::Resources free = usage_.freeOn(*node);
    const std::int64_t left =
        (leftOver(free.cpu.value, pod.shape.requests.cpu.value, node->allocatable.cpu.value) +
         leftOver(free.memory.value, pod.shape.requests.memory.value, node->allocatable.memory.value)) /
        2;
    best = std::min(best, {-(left + std::int64_t{advice[i]} * 10), search.left[i]});
  }
  return model::NodeName(std::get<std::string>(best));
}

}  // namespace trainyard::sim
