#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/resources.h"

namespace trainyard::model {

// Sorted by key; small, so a vector beats a map.
class Labels {
 public:
  Labels() = default;
  // Later entries win over earlier ones with the same key.
  explicit Labels(std::vector<std::pair<std::string, std::string>> entries);

  // Returns nullptr if the key is absent.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }
  friend bool operator==(const Labels&, const Labels&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key;  // empty with exists: every taint
  std::string value;
  bool exists = false;                               // operator Exists instead of Equal
  std::optional<TaintEffect> effect = std::nullopt;  // absent: every effect
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

enum class SelectorOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<std::string> values;
  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

// All requirements of a term must hold; the terms of a list are alternatives.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> labels;  // matchExpressions
  std::vector<SelectorRequirement> fields;  // matchFields: metadata.name only
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

// A volume with a separate claim for each pod, which is deleted with the pod.
struct EphemeralVolume {
  std::string name;
  std::optional<std::string> storageClass = std::nullopt;  // absent: the cluster's default; empty: none
  std::int64_t bytes = 0;
  friend bool operator==(const EphemeralVolume&, const EphemeralVolume&) = default;
};

// A claim on devices (spec.resourceClaims of a pod, DRA): one of its own made from a template, or one that
// exists and others may share.
struct DeviceClaimRef {
  std::string name;          // in the pod
  std::string templateName;  // empty for a claim that exists
  std::string claimName = {};
  friend bool operator==(const DeviceClaimRef&, const DeviceClaimRef&) = default;
};

// The constraints of a pod on its node: everything that the planner must honour to agree with kube-scheduler.
struct PodShape {
  Resources requests;  // with pods = 1
  Labels nodeSelector;
  // requiredDuringScheduling node affinity; absent when the pod has none. An empty list matches no node.
  std::optional<std::vector<NodeSelectorTerm>> affinity = std::nullopt;
  std::vector<NodeSelectorTerm> preferred =
      {};  // preferredDuringScheduling node affinity, whatever the weights
  std::vector<Toleration> tolerations;
  std::vector<std::string> volumeClaims = {};  // names of PersistentVolumeClaims in its namespace
  std::vector<EphemeralVolume> ephemeralVolumes = {};
  // Where the bound or possible volumes of those claims are reachable: one list per claim, which must match
  // the node as `affinity` does.
  std::vector<std::vector<NodeSelectorTerm>> volumeAffinity = {};
  std::vector<DeviceClaimRef> deviceClaims = {};
  friend bool operator==(const PodShape&, const PodShape&) = default;
};

// The number of keys and values to compare with a node's labels: node selector and all node affinity.
[[nodiscard]] std::size_t selectorTerms(const PodShape& shape);
// selectorTerms() plus those of tolerations and of volumes' node constraints.
[[nodiscard]] std::size_t constraintTerms(const PodShape& shape);

}  // namespace trainyard::model
