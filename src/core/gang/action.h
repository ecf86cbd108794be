#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/lifecycle/follow_up.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/job.h"

namespace trainyard::core {

// What the executor does for one job, in the order of the list. Every action is idempotent:
// a successor that finds it half done repeats it.

// Validates the templates in full: creates the pod of every role with dryRun=All.
struct CheckTemplates {
  friend bool operator==(const CheckTemplates&, const CheckTemplates&) = default;
};

struct AddFinalizer {
  friend bool operator==(const AddFinalizer&, const AddFinalizer&) = default;
};
struct RemoveFinalizer {
  friend bool operator==(const RemoveFinalizer&, const RemoveFinalizer&) = default;
};

// The job's headless Service and ConfigMap.
struct EnsureAuxiliaries {
  friend bool operator==(const EnsureAuxiliaries&, const EnsureAuxiliaries&) = default;
};

struct CreateMember {
  std::string role;
  int index = 0;
  std::int64_t epoch = 0;
  // Set for a single-pod job, which needs no gate: its pod is created pinned. Other pods are created gated.
  std::optional<model::NodeName> pinned = std::nullopt;
  friend bool operator==(const CreateMember&, const CreateMember&) = default;
};

// Pins the member to its node and removes our scheduling gate, in one write guarded by uid.
struct ReleaseMember {
  model::ObjectKey pod;
  model::Uid uid;
  std::string role;
  model::NodeName node;
  friend bool operator==(const ReleaseMember&, const ReleaseMember&) = default;
};

// Releases a pod of a Gang to its place, in one write guarded by uid: labels it as that member, pins it to
// the node and removes the gate for places.
struct GivePlace {
  model::ObjectKey pod;
  model::Uid uid;
  std::string role;
  int index = 0;
  std::int64_t epoch = 0;
  model::NodeName node;
  friend bool operator==(const GivePlace&, const GivePlace&) = default;
};

// Sets the field of a Gang's owner that stops it, or starts it.
struct SuspendOwner {
  bool suspend = false;
  friend bool operator==(const SuspendOwner&, const SuspendOwner&) = default;
};

// Writes the recorded membership of the job to an existing member: one merge patch, guarded by uid.
struct NotifyMember {
  model::ObjectKey pod;
  model::Uid uid;
  friend bool operator==(const NotifyMember&, const NotifyMember&) = default;
};

struct DeletePod {
  model::ObjectKey pod;
  model::Uid uid;
  bool force = false;  // does not wait for a kubelet that is gone
  // Set if the pod's own grace period is longer than permitted.
  std::optional<std::chrono::seconds> grace = std::nullopt;
  // By the Eviction API, which marks the pod as disrupted: a controller may then not count it as a failure.
  bool evict = false;
  friend bool operator==(const DeletePod&, const DeletePod&) = default;
};

// Finds out why the gang failed. The result is JobFeedback::failure.
struct CollectEvidence {
  friend bool operator==(const CollectEvidence&, const CollectEvidence&) = default;
};

// Deletes the job itself once its time after the end has passed (ttlSecondsAfterFinished).
struct DeleteJob {
  friend bool operator==(const DeleteJob&, const DeleteJob&) = default;
};

using Action =
    std::variant<CheckTemplates, AddFinalizer, RemoveFinalizer, EnsureAuxiliaries, CreateMember,
                 ReleaseMember, GivePlace, SuspendOwner, NotifyMember, DeletePod, CollectEvidence, DeleteJob>;

// One event of the job, for `kubectl describe`.
struct JobEvent {
  bool warning = false;
  std::string reason;
  std::string note;
  friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

// The change of a single-pod job that is not written to its record yet.
enum class DeferredStatus {
  kNone,
  kBound,  // bound, but not running yet
  kStarted,
};

// What the executor learnt that no watch shows. A restart loses it; repeating the actions restores it.
struct JobFeedback {
  // Actions or a status write are still under way: the cycle skips the job.
  bool busy = false;
  // One of these writes is the record: the cache shows it as it will be, but the write may still fail.
  bool writing = false;
  // The actions for the job have failed repeatedly.
  bool failing = false;
  // Service and ConfigMap are known to exist.
  bool auxiliariesReady = false;
  // Outcome of CheckTemplates for the current templates. Absent: not yet known; empty: they are valid.
  std::optional<std::string> templateError = std::nullopt;
  // CheckTemplates of an equal job is under way: its outcome also counts for this job.
  bool templateAsked = false;
  // When the last member of the proposal was released; absent: not by this process.
  std::optional<base::WallTime> released = std::nullopt;
  // The owner has been started for the proposal, by this process.
  bool ownerStarted = false;
  // All members that must learn the proposal's size have it.
  bool membersNotified = false;
  // The API server refused to create a member permanently; the text goes to the user.
  struct CreationRefused {
    std::string reason;  // "NameTaken", "Forbidden", "Invalid"
    std::string message;
  };
  std::optional<CreationRefused> creationRefused = std::nullopt;
  // Why the placed gang failed; absent: not yet known.
  std::optional<Failure> failure = std::nullopt;
  // The change of a single-pod job that its writer still holds back, so that no other step derives it again.
  DeferredStatus held = DeferredStatus::kNone;
};

}  // namespace trainyard::core
