#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/conditions.h"
#include "model/constraints.h"
#include "model/ids.h"
#include "model/resources.h"

namespace trainyard::model {

// Amounts by resource name, in the resource's own unit (cpu: millicores, memory: bytes, others: pieces),
// sorted by name. Unlike Resources it separates a zero entry from a missing one: a limit of no GPUs differs
// from no limit.
//
// Besides the names that pods request, a quota may name a GPU type: kGpuTypePrefix + the value of the node's
// GPU type label ("gpu-type.trainyard.dev/NVIDIA-A100-SXM4-80GB": 16).
class Quota {
 public:
  Quota() = default;
  // Later entries win over earlier ones of the same name.
  explicit Quota(std::vector<std::pair<std::string, std::int64_t>> entries);

  [[nodiscard]] std::optional<std::int64_t> find(std::string_view resource) const;
  // 0 when absent.
  [[nodiscard]] std::int64_t amount(std::string_view resource) const { return find(resource).value_or(0); }
  void set(std::string_view resource, std::int64_t amount);
  // Saturates.
  void add(std::string_view resource, std::int64_t amount);
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  friend bool operator==(const Quota&, const Quota&) = default;

 private:
  std::vector<std::pair<std::string, std::int64_t>> entries_;
};

inline constexpr std::string_view kGpuTypePrefix = "gpu-type.trainyard.dev/";

enum class WithinQueue { kNever, kLowerPriority };

// A selector of labels; an empty one selects everything.
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;  // matchLabels are kIn with one value
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// The sum over all resources that are GPUs.
struct QueueGpus {
  std::int64_t used = 0;
  std::int64_t guaranteed = 0;
  std::optional<std::int64_t> limit = std::nullopt;  // absent if one of the resources has none
  friend bool operator==(const QueueGpus&, const QueueGpus&) = default;
};

struct QueueStatus {
  std::int64_t observedGeneration = 0;
  Quota usage = {};                              // of this queue and its descendants
  std::optional<QueueGpus> gpus = std::nullopt;  // absent until the first write
  // Resource seconds, halved every half-life; `decayedAt` is the time of these values.
  Quota decayedUsage = {};
  std::optional<base::WallTime> decayedAt = std::nullopt;
  std::int64_t share = 0;      // held dominant share, in thousandths of the cluster
  std::int64_t fairShare = 0;  // present fair share, in the same unit
  int waiting = 0;             // jobs of this queue and its descendants
  int placed = 0;              // as for waiting
  std::vector<Condition> conditions = {};
  friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};

// A Queue object: a share of the cluster that jobs are charged to and wait in. Queues form trees by `parent`.
struct Queue {
  QueueName name;
  Uid uid = {};
  std::string resourceVersion = {};
  std::int64_t generation = 0;
  QueueName parent = {};  // empty: a root
  std::int64_t weight = 1;
  Quota guaranteed = {};
  Quota limit = {};  // a resource without an entry has no limit
  bool reclaim = true;
  WithinQueue withinQueue = WithinQueue::kLowerPriority;
  LabelSelector namespaceSelector = {};
  QueueStatus status = {};
  std::string specError = {};  // why the spec is not usable, with the field; empty if it is
  // PriorityClasses that its jobs may name; absent: all but the system's.
  std::optional<std::vector<std::string>> allowedPriorityClasses = std::nullopt;
};

struct PriorityClass {
  std::string name;
  int value = 0;
  bool globalDefault = false;
  bool preempts = true;  // preemptionPolicy: PreemptLowerPriority
};

// The part of a Namespace that affects scheduling: its labels.
struct Namespace {
  std::string name;
  Uid uid;
  Labels labels;
};

}  // namespace trainyard::model
