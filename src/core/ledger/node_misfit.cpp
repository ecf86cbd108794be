#include "core/ledger/node_misfit.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace trainyard::core {
namespace {

using model::NodeSelectorTerm;
using model::PodShape;
using model::SelectorOperator;
using model::SelectorRequirement;
using model::Taint;
using model::TaintEffect;
using model::Toleration;

constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Taints set and removed by Kubernetes, not by people: node lifecycle controller, kubelet, cloud provider.
bool setByKubernetes(const Taint& taint) {
  return startsWith(taint.key, "node.kubernetes.io/") ||
         startsWith(taint.key, "node.cloudprovider.kubernetes.io/");
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

bool toleratedBy(const PodShape& shape, const Taint& taint) {
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(),
                     [&](const Toleration& toleration) { return tolerates(toleration, taint); });
}

// Returns the first taint that the pod does not tolerate, as kube-scheduler finds it.
template <typename Relevant>
const Taint* firstUntolerated(const model::Node& node, const PodShape& shape, Relevant relevant) {
  for (const Taint& taint : node.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule || !relevant(taint)) continue;
    if (!toleratedBy(shape, taint)) return &taint;
  }
  return nullptr;
}

bool cordonTolerated(const PodShape& shape) {
  return toleratedBy(shape, Taint{std::string(kUnschedulableTaint), "", TaintEffect::kNoSchedule});
}

// Parses as Go's strconv.ParseInt(text, 10, 64): an optional sign, digits, nothing else, in range.
std::optional<std::int64_t> parseInteger(std::string_view text) {
  if (startsWith(text, "+")) {
    text.remove_prefix(1);
    if (startsWith(text, "-")) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool compares(const std::string& present, const SelectorRequirement& requirement) {
  if (requirement.values.size() != 1) return false;
  const auto have = parseInteger(present);
  const auto bound = parseInteger(requirement.values.front());
  if (!have || !bound) return false;
  return requirement.op == SelectorOperator::kGt ? *have > *bound : *have < *bound;
}

// `present` is the value of the label or field; nullptr if the node has none.
bool requirementHolds(const SelectorRequirement& requirement, const std::string* present) {
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *present) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::kIn: return present != nullptr && listed();
    case SelectorOperator::kNotIn: return present == nullptr || !listed();
    case SelectorOperator::kExists: return present != nullptr;
    case SelectorOperator::kDoesNotExist: return present == nullptr;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt: return present != nullptr && compares(*present, requirement);
  }
  return false;
}

bool fieldHolds(const SelectorRequirement& requirement, const model::Node& node) {
  const bool known = requirement.op == SelectorOperator::kIn || requirement.op == SelectorOperator::kNotIn;
  // The API accepts metadata.name with In or NotIn and one value; kube-scheduler matches no other form.
  if (requirement.key != "metadata.name" || !known || requirement.values.size() != 1) return false;
  return requirementHolds(requirement, &node.name.str());
}

bool termHolds(const NodeSelectorTerm& term, const model::Node& node) {
  if (term.labels.empty() && term.fields.empty()) return false;
  return std::all_of(term.labels.begin(), term.labels.end(),
                     [&](const auto& r) { return requirementHolds(r, node.labels.find(r.key)); }) &&
         std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const auto& r) { return fieldHolds(r, node); });
}

bool anyHolds(const std::vector<NodeSelectorTerm>& terms, const model::Node& node) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const NodeSelectorTerm& term) { return termHolds(term, node); });
}

bool affinityHolds(const PodShape& shape, const model::Node& node) {
  return !shape.affinity || anyHolds(*shape.affinity, node);
}

bool reachesVolumes(const PodShape& shape, const model::Node& node) {
  return std::all_of(shape.volumeAffinity.begin(), shape.volumeAffinity.end(),
                     [&](const auto& terms) { return anyHolds(terms, node); });
}

// Returns the first entry of nodeSelector that the node lacks.
const std::pair<std::string, std::string>* missingSelector(const PodShape& shape, const model::Node& node) {
  for (const auto& entry : shape.nodeSelector.entries()) {
    const std::string* value = node.labels.find(entry.first);
    if (value == nullptr || *value != entry.second) return &entry;
  }
  return nullptr;
}

std::string_view effectName(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule: return "NoSchedule";
    case TaintEffect::kPreferNoSchedule: return "PreferNoSchedule";
    case TaintEffect::kNoExecute: return "NoExecute";
  }
  return "";
}

std::string describe(const Taint& taint) {
  return fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value,
                     effectName(taint.effect));
}

// A cordoned node has the matching taint as well, which kCordoned already covers.
bool troubleTaint(const Taint& taint) { return setByKubernetes(taint) && taint.key != kUnschedulableTaint; }
bool lastingTaint(const Taint& taint) { return !setByKubernetes(taint); }
bool cordonTaint(const Taint& taint) { return taint.key == kUnschedulableTaint; }

bool anyTaint(const Taint& /*taint*/) { return true; }

std::optional<NodeMisfitReason> labelMisfitReason(const model::Node& node, const PodShape& shape) {
  if (missingSelector(shape, node) != nullptr) return NodeMisfitReason::kNodeSelector;
  if (!affinityHolds(shape, node)) return NodeMisfitReason::kAffinity;
  if (!reachesVolumes(shape, node)) return NodeMisfitReason::kVolume;
  return std::nullopt;
}

std::optional<NodeMisfitReason> templateMisfitReason(const model::Node& node, const PodShape& shape) {
  if (firstUntolerated(node, shape, lastingTaint) != nullptr) return NodeMisfitReason::kTaint;
  return labelMisfitReason(node, shape);
}

std::string textFor(NodeMisfitReason reason, const model::Node& node, const PodShape& shape) {
  switch (reason) {
    case NodeMisfitReason::kDeleting: return "is being deleted";
    case NodeMisfitReason::kNotReady: return "is not ready";
    case NodeMisfitReason::kCordoned: return "is cordoned";
    case NodeMisfitReason::kNodeTrouble:
      return fmt::format("has the taint {}", describe(*firstUntolerated(node, shape, troubleTaint)));
    case NodeMisfitReason::kTaint:
      return fmt::format("has the taint {}", describe(*firstUntolerated(node, shape, lastingTaint)));
    case NodeMisfitReason::kNodeSelector: {
      const auto& [name, value] = *missingSelector(shape, node);
      return fmt::format("has no label {}={}", name, value);
    }
    case NodeMisfitReason::kAffinity: return "does not match the required node affinity";
    case NodeMisfitReason::kVolume: return "cannot reach a volume that the pods use";
  }
  return "";
}

}  // namespace

bool matchesAny(const std::vector<NodeSelectorTerm>& terms, const model::Node& node) {
  return anyHolds(terms, node);
}

bool labelsMeet(const SelectorRequirement& requirement, const model::Labels& labels) {
  return requirementHolds(requirement, labels.find(requirement.key));
}

bool prefersOthers(const model::Node& node, const PodShape& shape) {
  const bool tainted = std::any_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule && !toleratedBy(shape, taint);
  });
  return tainted || (!shape.preferred.empty() && !anyHolds(shape.preferred, node));
}

std::optional<NodeMisfitReason> nodeRefusal(const model::Node& node, const PodShape& shape) {
  if (node.deleting) return NodeMisfitReason::kDeleting;
  if (!node.ready) return NodeMisfitReason::kNotReady;
  if (node.unschedulable && !cordonTolerated(shape)) return NodeMisfitReason::kCordoned;
  // Fast path: most nodes with taints serve pods that tolerate all of them.
  if (firstUntolerated(node, shape, anyTaint) == nullptr) return labelMisfitReason(node, shape);
  if (firstUntolerated(node, shape, cordonTaint) != nullptr) return NodeMisfitReason::kCordoned;
  if (firstUntolerated(node, shape, troubleTaint) != nullptr) return NodeMisfitReason::kNodeTrouble;
  return templateMisfitReason(node, shape);
}

std::optional<NodeMisfit> nodeMisfit(const model::Node& node, const PodShape& shape) {
  const auto reason = nodeRefusal(node, shape);
  if (!reason) return std::nullopt;
  return NodeMisfit{*reason, textFor(*reason, node, shape)};
}

std::optional<NodeMisfit> templateMisfit(const model::Node& node, const PodShape& shape) {
  const auto reason = templateMisfitReason(node, shape);
  if (!reason) return std::nullopt;
  return NodeMisfit{*reason, textFor(*reason, node, shape)};
}

bool templateMatches(const model::Node& node, const PodShape& shape) {
  return !templateMisfitReason(node, shape);
}

}  // namespace trainyard::core
