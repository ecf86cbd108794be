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

// What the executor does for one job, in the order of the list. Every action is idempotent: a successor that
// finds it half done simply does it again.

// Check the inside of the templates: creates every role's pod with dryRun=All.
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
  // Set for a gang of one, which needs no gate: the pod is born pinned. Others are born gated.
  std::optional<model::NodeName> pinned = std::nullopt;
  friend bool operator==(const CreateMember&, const CreateMember&) = default;
};

// Pins the member to its node and takes our gate away, in one write guarded by uid.
struct ReleaseMember {
  model::ObjectKey pod;
  model::Uid uid;
  std::string role;
  model::NodeName node;
  friend bool operator==(const ReleaseMember&, const ReleaseMember&) = default;
};

// Tells a member that exists who belongs to the job, as the record has it: one merge patch, guarded by uid.
struct TellMember {
  model::ObjectKey pod;
  model::Uid uid;
  friend bool operator==(const TellMember&, const TellMember&) = default;
};

struct DeletePod {
  model::ObjectKey pod;
  model::Uid uid;
  bool force = false;  // without waiting for a kubelet that is gone
  // Where it may not take as long as it asks for.
  std::optional<std::chrono::seconds> grace = std::nullopt;
  friend bool operator==(const DeletePod&, const DeletePod&) = default;
};

// Find out what the gang failed of: JobFeedback::failure answers it.
struct CollectEvidence {
  friend bool operator==(const CollectEvidence&, const CollectEvidence&) = default;
};

// The job itself, whose time after its end is over.
struct DeleteJob {
  friend bool operator==(const DeleteJob&, const DeleteJob&) = default;
};

using Action = std::variant<CheckTemplates, AddFinalizer, RemoveFinalizer, EnsureAuxiliaries, CreateMember,
                            ReleaseMember, TellMember, DeletePod, CollectEvidence, DeleteJob>;

// One line of the job's history, for `kubectl describe`.
struct JobEvent {
  bool warning = false;
  std::string reason;
  std::string note;
  friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

// Which news of a gang of one whose record is not written yet.
enum class HeldNews {
  kNone,
  kComesUp,  // it is bound, and not running yet
  kRuns,
};

// What the executor learnt that no watch shows. Lost with the process, and then learnt again by repeating.
struct JobFeedback {
  // Actions or a status write are still under way: leave the job alone.
  bool busy = false;
  // Of these, its record: it is shown as it will be, which it may not come to.
  bool writing = false;
  // What was tried for it has failed again and again.
  bool failing = false;
  // Service and ConfigMap are known to exist.
  bool auxiliariesReady = false;
  // Outcome of CheckTemplates for the current templates: absent: not yet known; empty: they are fine.
  std::optional<std::string> templateError = std::nullopt;
  // An equal job's CheckTemplates is under way: its outcome will be this one's.
  bool templateAsked = false;
  // When the last member of the proposal was let go; absent: not by this process.
  std::optional<base::WallTime> released = std::nullopt;
  // All members that are to know of the proposal's size have been told.
  bool membersTold = false;
  // The API refused to create a member for good; the text goes to the user.
  struct CreationRefused {
    std::string reason;  // "NameTaken", "Forbidden", "Invalid"
    std::string message;
  };
  std::optional<CreationRefused> creationRefused = std::nullopt;
  // What the gang that is placed failed of; absent: not yet known.
  std::optional<Failure> failure = std::nullopt;
  // News of a gang of one that its writer holds back still, so that nobody need find them again.
  HeldNews held = HeldNews::kNone;
};

}  // namespace trainyard::core
