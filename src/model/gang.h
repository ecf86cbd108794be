#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/index_set.h"
#include "model/resources.h"

namespace trainyard::model {

// Members of one role on one node.
struct Assignment {
  NodeName node;
  std::string role;
  IndexSet indices;
  // Epoch of these members if it differs from the record's: they were replaced or added later.
  std::int64_t epoch = 0;
  // The node's GPU type at placement, if a quota names that type: the node may lose the label for a moment,
  // and the charge must not change.
  std::string gpuType = {};
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

enum class ProposalKind { kStart, kGrow, kShrink, kReplace, kRestart };

// Claiming: victims and the pods of `remove` are terminating, the nodes of `add` already count as used.
// Reserved: the capacity is free for the gang; its pods are created, then pinned and ungated. Releasing: the
// pods of a Grow are bound, and the earlier members are notified of them. Aborting: the proposal's pods are
// being deleted, its nodes still count as used.
enum class ProposalPhase { kClaiming, kReserved, kReleasing, kAborting };

struct Victim {
  // The member of a Gang that the pod is. It does not follow from the name of such a pod.
  struct Place {
    std::string gang;
    std::string role;
    int index = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  ObjectKey pod;
  Uid uid;
  NodeName node;
  std::optional<Place> place = std::nullopt;
  friend bool operator==(const Victim&, const Victim&) = default;
};

// A change of the gang that is under way; the commit record of docs/protocol.md.
struct Proposal {
  std::string id;
  ProposalKind kind = ProposalKind::kStart;
  ProposalPhase phase = ProposalPhase::kReserved;
  std::int64_t epoch = 0;       // epoch of the pods that it adds
  std::int64_t term = 0;        // leadership term of its author
  std::int64_t generation = 0;  // generation of the spec it was planned for
  std::string templateHash;
  base::WallTime deadline{};
  std::vector<Assignment> add;
  std::vector<Assignment> remove;
  std::vector<Victim> victims;
  std::string abortReason;  // why phase is Aborting
  // For a Restart that moves the gang for a preemptor: that job. Set until the preemptor's proposal is
  // written; until then the gang runs on, and the proposal only reserves its new nodes.
  std::optional<ObjectKey> movesFor = std::nullopt;

  // Returns true if it removes the placed member; a Restart removes all.
  [[nodiscard]] bool removes(std::string_view role, int index) const;
  friend bool operator==(const Proposal&, const Proposal&) = default;
};

// Members of one role.
struct RoleMembers {
  std::string role;
  IndexSet indices;
  friend bool operator==(const RoleMembers&, const RoleMembers&) = default;
};

struct Placed {
  std::int64_t epoch = 0;
  std::vector<Assignment> assignments;
  // The placed members that have succeeded, by role. Their pods may be deleted: nodes are scaled down, and
  // finished pods are garbage-collected.
  std::vector<RoleMembers> succeeded = {};

  [[nodiscard]] bool hasSucceeded(std::string_view role, int index) const;
  void noteSucceeded(std::string_view role, int index);
  // Called when these members restart or are removed.
  void forgetSucceeded(const std::vector<Assignment>& members);
  [[nodiscard]] std::int64_t epochOf(const Assignment& assignment) const {
    return assignment.epoch != 0 ? assignment.epoch : epoch;
  }
  friend bool operator==(const Placed&, const Placed&) = default;
};

// After an aborted attempt: when the next one may be planned, and which nodes it avoids.
struct Backoff {
  base::WallTime until{};
  int count = 0;
  std::vector<NodeName> avoidNodes;
  std::string reason;
  // The generation of the spec with members that kube-scheduler did not bind; 0: none. Other victims would
  // not have changed that, so the job preempts none for some time.
  std::int64_t unbindable = 0;
  friend bool operator==(const Backoff&, const Backoff&) = default;
};

// What a gang is charged with to its queue, and what decides which jobs may preempt it: its spec at
// placement. Later edits of the spec count only for its next placement. Otherwise a placed job could move its
// charge to another queue, or out of reach of jobs with a right to reclaim its capacity.
struct Charge {
  // The gang was backfilled on capacity that is reserved for `holder`. From `from` on that job, and by this
  // right no other, may preempt the gang, until the gang is pending again.
  struct Backfill {
    ObjectKey holder;
    Uid uid;
    base::WallTime from{};
    friend bool operator==(const Backfill&, const Backfill&) = default;
  };
  // The charge of one member of a role.
  struct Member {
    std::string role;
    Resources requests;
    friend bool operator==(const Member&, const Member&) = default;
  };

  QueueName queue;
  bool preemptible = false;
  int priority = 0;
  std::vector<Member> members = {};
  // The queue's ancestors, its parent first: they stay charged when the Queue object is deleted.
  std::vector<QueueName> ancestors = {};
  // Empty for a gang that uses no reserved capacity.
  std::vector<Backfill> backfilled = {};

  // Returns nullptr for an unknown role.
  [[nodiscard]] const Resources* requestsOf(std::string_view role) const;
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct GangRecord {
  // The highest epoch ever used. Never reused: a late create of a paused leader must not pass for a member.
  std::int64_t lastEpoch = 0;
  std::optional<Placed> placed;
  std::optional<Proposal> proposal;
  std::optional<Backoff> backoff;
  // Set while the gang is placed or proposed. Absent in records of older versions.
  std::optional<Charge> charge = std::nullopt;
  friend bool operator==(const GangRecord&, const GangRecord&) = default;
};

}  // namespace trainyard::model
