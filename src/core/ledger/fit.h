#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/constraints.h"
#include "model/node.h"

namespace trainyard::core {

// Whether a set of labels meets one requirement, as Kubernetes' selectors do.
[[nodiscard]] bool labelsMeet(const model::SelectorRequirement& requirement, const model::Labels& labels);

// Whether the node matches one of the terms.
[[nodiscard]] bool matchesAny(const std::vector<model::NodeSelectorTerm>& terms, const model::Node& node);

// Why a node is closed to a pod, whatever room it has. The first that applies, in this order.
enum class NodeMisfitReason {
  kDeleting,
  kNotReady,
  kCordoned,
  kNodeTrouble,  // a taint that Kubernetes itself set and takes away again: node.kubernetes.io/…, e.g.
                 // disk-pressure
  kTaint,
  kNodeSelector,
  kAffinity,
  kVolume,  // out of reach of a volume that the pod is bound to
};

struct NodeMisfit {
  NodeMisfitReason reason = NodeMisfitReason::kDeleting;
  // What follows the node's name: "is cordoned", "has the taint gpu=a100:NoSchedule", "has no label
  // pool=train". Equal texts may be counted together.
  std::string text;

  // The node may become open without anyone changing the template: a wait, not a mistake of the user.
  // A node that is being deleted does not come back.
  [[nodiscard]] bool temporary() const;
};

// Whether a pod of this shape may run on the node, room aside; empty when it may. Exactly as
// kube-scheduler 1.36 decides (taints × tolerations without PreferNoSchedule, nodeSelector, required node
// affinity, that of its bound volumes, cordon), and stricter in two points: a node that is not ready or is
// being deleted takes no member, whatever the pod tolerates, because a gang started there would never
// assemble.
[[nodiscard]] std::optional<NodeMisfit> nodeMisfit(const model::Node& node, const model::PodShape& shape);

// Whether a pod of this shape would rather run elsewhere, as kube-scheduler scores nodes: the node has a
// taint PreferNoSchedule that the pod does not tolerate, or matches none of its preferred node affinities.
[[nodiscard]] bool prefersOthers(const model::Node& node, const model::PodShape& shape);

// The same answer without words: for loops over thousands of nodes.
[[nodiscard]] std::optional<NodeMisfitReason> nodeRefusal(const model::Node& node,
                                                          const model::PodShape& shape);

// The part of nodeMisfit() that only an edit of node or template changes: selector, affinity, lasting taints.
// Empty for a cordoned or unready node that the template otherwise matches.
[[nodiscard]] std::optional<NodeMisfit> templateMisfit(const model::Node& node, const model::PodShape& shape);
[[nodiscard]] bool templateMatches(const model::Node& node, const model::PodShape& shape);

}  // namespace trainyard::core
