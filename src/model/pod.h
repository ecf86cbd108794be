#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/constraints.h"
#include "model/ids.h"
#include "model/resources.h"

namespace trainyard::model {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// How the first failed container ended (init containers first, then the others in order); the first
// container's end when none failed.
struct ContainerExit {
  int code = 0;
  std::string reason;  // "OOMKilled", "Error", "Completed"
  std::string message;
  std::optional<base::WallTime> finishedAt = std::nullopt;  // by the node's clock, whole seconds
};

// Of a pod that has failed or is a target of a disruption: what rules of users ask for.
struct PodFailure {
  struct Container {
    std::string name;
    int exitCode = 0;
    friend bool operator==(const Container&, const Container&) = default;
  };
  struct Condition {
    std::string type;
    std::string status;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  std::vector<Container> containers;  // those that ended with an error, init containers first
  std::vector<Condition> conditions;
  std::string message = {};  // status.message
  friend bool operator==(const PodFailure&, const PodFailure&) = default;
};

// Of a pod that still runs although some of its containers (no init containers) have ended.
struct PartlyEnded {
  std::vector<PodFailure::Container> ended;
  std::vector<std::string> running;
};

// A gang member's place in its gang, read from labels: a claim, to be checked against the job's record.
struct MemberLabels {
  std::string jobName;
  std::string role;
  int index = 0;
  std::int64_t epoch = 0;
};

// Projection of a Pod: what planning, the guard and the failure policy need, nothing else.
struct Pod {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  Uid controllerUid;           // of the controller owner reference, empty without one
  std::string controllerKind;  // "TrainingJob", "DaemonSet", "Job", …
  std::optional<MemberLabels> member;
  Uid placeholderOf;  // the TrainingJob that owner and label say it stands for; empty: none

  NodeName node;                   // spec.nodeName; empty until bound
  std::optional<NodeName> pinned;  // the single node that required affinity allows by metadata.name
  NodeName nominated;  // status.nominatedNodeName: where kube-scheduler means to bind it; empty: nowhere
  std::string schedulerName;   // empty: the cluster's default one
  bool gated = false;          // any scheduling gate is left
  bool claimsDevices = false;  // spec.resourceClaims; kube-scheduler ignores it until all of them exist
  bool gangGated = false;      // our gate is among them
  std::string otherGate = {};  // the first gate that is not ours; empty: none
  bool terminating = false;
  std::optional<base::WallTime> deletionTime = std::nullopt;  // metadata.deletionTimestamp
  base::WallTime created{};
  std::chrono::seconds grace{30};  // spec.terminationGracePeriodSeconds

  PodPhase phase = PodPhase::kPending;
  bool ready = false;
  std::string statusReason;             // status.reason: "Evicted", "OutOfnvidia.com/gpu", …
  std::string unschedulableMessage;     // of PodScheduled=False, reason Unschedulable; empty otherwise
  base::WallTime unschedulableSince{};  // that condition's lastTransitionTime
  std::string disruptionReason;         // reason of DisruptionTarget=True; empty otherwise
  std::string waitingReason;            // of the first waiting container: "ImagePullBackOff", …
  std::optional<ContainerExit> exit = std::nullopt;
  std::shared_ptr<const PodFailure> failure = nullptr;  // of one that failed or is disrupted

  std::shared_ptr<const PartlyEnded> partlyEnded = nullptr;

  PodShape shape;
  int uncountedResources = 0;  // names that the shape leaves out: model/limits.h
  int priority = 0;

  [[nodiscard]] bool bound() const { return !node.empty(); }
  // A finished pod keeps its name but holds no resources.
  [[nodiscard]] bool finished() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

}  // namespace trainyard::model
