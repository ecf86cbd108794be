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
  // Epoch of these members where it is not that of the whole record: they were replaced or added later.
  std::int64_t epoch = 0;
  // The node's type of GPU when the place was given, where a quota names that type: the label may go for a
  // moment, and what is charged stays charged.
  std::string gpuType = {};
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

enum class ProposalKind { kStart, kGrow, kShrink, kMove, kReplace, kRestart };

// Claiming: victims and the pods of `remove` are going away, the places of `add` count already. Reserved: the
// places are ours. Creating: pods are made, gated. Releasing: pods are pinned and let go. Aborting: our pods
// are being deleted, the places still count.
enum class ProposalPhase { kClaiming, kReserved, kCreating, kReleasing, kAborting };

struct Victim {
  ObjectKey pod;
  Uid uid;
  NodeName node;
  friend bool operator==(const Victim&, const Victim&) = default;
};

// A change of the gang that is under way; the commit record of docs/protocol.md.
struct Proposal {
  std::string id;
  ProposalKind kind = ProposalKind::kStart;
  ProposalPhase phase = ProposalPhase::kReserved;
  std::int64_t epoch = 0;       // of the pods that it adds
  std::int64_t term = 0;        // leadership term of its author
  std::int64_t generation = 0;  // of the spec it was planned for
  std::string templateHash;
  base::WallTime deadline{};
  std::vector<Assignment> add;
  std::vector<Assignment> remove;
  std::vector<Victim> victims;
  std::string abortReason;  // why phase is Aborting
  // Of a Restart that makes room by going elsewhere: for whose claim. Set until that claim stands; till then
  // the gang runs on, and only keeps its new places.
  std::optional<ObjectKey> movesFor = std::nullopt;

  // Whether it takes the placed member away; a Restart takes all.
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
  // Of these, who has ended well, by role. Their pods may go: nodes are scaled down, and what has ended is
  // swept up.
  std::vector<RoleMembers> succeeded = {};

  [[nodiscard]] bool hasSucceeded(std::string_view role, int index) const;
  void noteSucceeded(std::string_view role, int index);
  // They are started anew, or taken away.
  void forgetSucceeded(const std::vector<Assignment>& members);
  [[nodiscard]] std::int64_t epochOf(const Assignment& assignment) const {
    return assignment.epoch != 0 ? assignment.epoch : epoch;
  }
  friend bool operator==(const Placed&, const Placed&) = default;
};

// After a failed attempt: when the next one may be planned, and without which nodes.
struct Backoff {
  base::WallTime until{};
  int count = 0;
  std::vector<NodeName> avoidNodes;
  std::string reason;
  // The generation of the spec whose members kube-scheduler did not bind; 0: none. Other victims would not
  // have changed that, so the job preempts none for some time.
  std::int64_t unbindable = 0;
  friend bool operator==(const Backoff&, const Backoff&) = default;
};

// As what a gang is charged to its queue, and who may stop it: what its spec said when it was given its
// places. What is written into the spec since counts when it waits for places anew; else whoever holds places
// could move the bill to another queue, or out of the reach of those who may have them back.
struct Charge {
  // The gang was backfilled on capacity that is reserved for `holder`. From `from` on that job, and by this
  // right no other, may preempt the gang, until the gang is pending again.
  struct Backfill {
    ObjectKey holder;
    Uid uid;
    base::WallTime from{};
    friend bool operator==(const Backfill&, const Backfill&) = default;
  };
  // What one member of a role holds.
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
  // Empty for a gang that took nothing that is reserved.
  std::vector<Backfill> backfilled = {};

  // nullptr where it knows no such role.
  [[nodiscard]] const Resources* requestsOf(std::string_view role) const;
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct GangRecord {
  // The highest epoch ever used. Never reused: a late create of a paused leader must not pass for a member.
  std::int64_t lastEpoch = 0;
  std::optional<Placed> placed;
  std::optional<Proposal> proposal;
  std::optional<Backoff> backoff;
  // As long as there is a gang: placed, or proposed. Absent too in records of older versions.
  std::optional<Charge> charge = std::nullopt;
  friend bool operator==(const GangRecord&, const GangRecord&) = default;
};

}  // namespace trainyard::model
