#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/constraints.h"
#include "model/node.h"

namespace trainyard::core {

// Returns true if the labels meet the requirement, as Kubernetes' selectors do.
[[nodiscard]] bool labelsMeet(const model::SelectorRequirement& requirement, const model::Labels& labels);

// Returns true if the node matches one of the terms.
[[nodiscard]] bool matchesAny(const std::vector<model::NodeSelectorTerm>& terms, const model::Node& node);

// Why a node refuses a pod regardless of its free capacity. The first that applies, in this order.
enum class NodeMisfitReason {
  kDeleting,
  kNotReady,
  kCordoned,
  kNodeTrouble,  // a taint that Kubernetes itself sets and removes: node.kubernetes.io/…, e.g.
                 // disk-pressure
  kTaint,
  kNodeSelector,
  kAffinity,
  kVolume,  // a volume of the pod is not reachable from the node
};

struct NodeMisfit {
  NodeMisfitReason reason = NodeMisfitReason::kDeleting;
  // The text after the node's name: "is cordoned", "has the taint gpu=a100:NoSchedule", "has no label
  // pool=train". Equal texts may be counted together.
  std::string text;
};

// Returns why a pod of this shape may not run on the node, free capacity aside; nullopt if it may. It decides
// exactly as kube-scheduler 1.36 (taints × tolerations without PreferNoSchedule, nodeSelector, required node
// affinity, that of its bound volumes, cordon), and is stricter in two points: a node that is not ready or is
// being deleted takes no member, whatever the pod tolerates, because a gang started there would never
// assemble.
[[nodiscard]] std::optional<NodeMisfit> nodeMisfit(const model::Node& node, const model::PodShape& shape);

// Returns true if a pod of this shape prefers other nodes, as kube-scheduler scores them: the node has a
// taint PreferNoSchedule that the pod does not tolerate, or matches none of its preferred node affinities.
[[nodiscard]] bool prefersOthers(const model::Node& node, const model::PodShape& shape);

// nodeMisfit() without the text: for loops over thousands of nodes.
[[nodiscard]] std::optional<NodeMisfitReason> nodeRefusal(const model::Node& node,
                                                          const model::PodShape& shape);

// The part of nodeMisfit() that only an edit of node or template changes: selector, affinity, lasting taints.
// nullopt for a cordoned or unready node that the template otherwise matches.
[[nodiscard]] std::optional<NodeMisfit> templateMisfit(const model::Node& node, const model::PodShape& shape);
[[nodiscard]] bool templateMatches(const model::Node& node, const model::PodShape& shape);

}  // namespace trainyard::core
