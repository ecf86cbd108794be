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

// How the first failed container ended (init containers first, then the others in order); if none failed, how
// the first container ended.
struct ContainerExit {
  int code = 0;
  std::string reason;  // "OOMKilled", "Error", "Completed"
  std::string message;
  std::optional<base::WallTime> finishedAt = std::nullopt;  // by the node's clock, whole seconds
};

// The facts about a failed or disrupted pod that users' rules match.
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

// A pod that still runs although some of its containers (no init containers) have ended.
struct PartlyEnded {
  std::vector<PodFailure::Container> ended;
  std::vector<std::string> running;
};

// A pod's identity in its gang, read from labels: a claim, to be checked against the job's record.
struct MemberLabels {
  std::string jobName;
  std::string role;
  int index = 0;
  std::int64_t epoch = 0;
};

// A gated pod that asks for a place in a Gang of its namespace. Any user can write that.
struct Arrival {
  std::string gang;  // name of the Gang
  std::string role;
  int rank = -1;   // the index that it should have in its role, or in its group; negative: any
  int group = -1;  // its group, in a role with groups (Role::groupSize)
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

// Projection of a Pod: only the fields that planning, the guard and the failure policy need.
struct Pod {
  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  Uid controllerUid;           // of the controller owner reference, empty without one
  std::string controllerKind;  // "TrainingJob", "DaemonSet", "Job", …
  // By label: the Gang that gave the pod a place. Empty for the members of a TrainingJob, which their
  // controller reference names.
  Uid gangUid = {};
  std::optional<MemberLabels> member;
  std::shared_ptr<const Arrival> arrival = nullptr;  // until it is released to a place
  Uid placeholderOf;  // the TrainingJob by owner and label of a placeholder; empty: none

  NodeName node;                   // spec.nodeName; empty until bound
  std::optional<NodeName> pinned;  // the one node that required affinity allows by metadata.name
  NodeName nominated;         // status.nominatedNodeName: the node that kube-scheduler intends; empty: none
  std::string schedulerName;  // empty: the cluster's default one
  bool gated = false;         // it has any scheduling gate
  bool awaitsClaims =
      false;               // a device claim of a template does not exist yet: kube-scheduler ignores the pod
  bool gangGated = false;  // it has Trainyard's gate
  std::string otherGate = {};  // the first foreign gate; empty: none
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
  std::shared_ptr<const PodFailure> failure = nullptr;  // for a failed or disrupted pod

  std::shared_ptr<const PartlyEnded> partlyEnded = nullptr;

  PodShape shape;
  int uncountedResources = 0;  // number of ignored names: model/limits.h
  int priority = 0;

  [[nodiscard]] bool bound() const { return !node.empty(); }
  // A finished pod keeps its name but uses no resources.
  [[nodiscard]] bool finished() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

}  // namespace trainyard::model
