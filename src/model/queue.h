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
// sorted by name. Other than Resources it tells a named zero from a name that is missing: a limit of no GPUs
// is not the same as no limit.
//
// Besides the names that pods request, a quota may name a type of GPU: kGpuTypePrefix + the value of the
// node label that tells the type ("gpu-type.trainyard.dev/NVIDIA-A100-SXM4-80GB": 16).
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

// Of labels; an empty one selects everything.
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;  // matchLabels are kIn with one value
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// GPUs of all resources that are GPUs together.
struct QueueGpus {
  std::int64_t used = 0;
  std::int64_t guaranteed = 0;
  std::optional<std::int64_t> limit = std::nullopt;  // absent where one of the resources has none
  friend bool operator==(const QueueGpus&, const QueueGpus&) = default;
};

struct QueueStatus {
  std::int64_t observedGeneration = 0;
  Quota usage = {};                              // of this queue and of those below it
  std::optional<QueueGpus> gpus = std::nullopt;  // absent until it is written
  // Resource seconds, halved every half-life; `decayedAt` is when they were right.
  Quota decayedUsage = {};
  std::optional<base::WallTime> decayedAt = std::nullopt;
  std::int64_t share = 0;      // dominant share held, in thousandths of the cluster
  std::int64_t fairShare = 0;  // entitled to now, in the same unit
  int waiting = 0;             // jobs of this queue and of those below it
  int placed = 0;              // the same
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
  Quota limit = {};  // a resource that is not named has none
  bool reclaim = true;
  WithinQueue withinQueue = WithinQueue::kLowerPriority;
  LabelSelector namespaceSelector = {};
  QueueStatus status = {};
  std::string specError = {};  // why the spec cannot be used, naming the field; empty when it can
  // PriorityClasses that its jobs may name; absent: all but those of the system.
  std::optional<std::vector<std::string>> allowedPriorityClasses = std::nullopt;
};

struct PriorityClass {
  std::string name;
  int value = 0;
  bool globalDefault = false;
  bool preempts = true;  // preemptionPolicy: PreemptLowerPriority
};

// What of a Namespace decides: its labels.
struct Namespace {
  std::string name;
  Uid uid;
  Labels labels;
};

}  // namespace trainyard::model
