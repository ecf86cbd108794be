#pragma once

#include <string>
#include <vector>

#include "core/ledger/members.h"
#include "model/job.h"

namespace trainyard::core {

// Lost: members are gone or terminating for a reason that is not the user's program.
enum class Outcome { kRunning, kSucceeded, kFailed, kLost };

struct Verdict {
  Outcome outcome = Outcome::kRunning;
  std::string reason = {};  // of the condition: "RolesSucceeded", "MemberFailed", "MemberLost"
  std::string message = {};
  std::vector<Member> lost = {};    // of kLost
  std::vector<Member> failed = {};  // of kFailed: all that ended with an error
};

// The outcome of a placed gang.
//
// Success: the roles of spec.success, all members of them or any one; without spec.success the first of
// launcher, chief, master and worker that the job has, else every role.
// Lost: a pod was deleted, evicted, drained, or refused by its node. No user's program is the cause.
// Failure: a member of any role ended with an error.
// A member has ended when all containers of its template have. Containers of admission may run for ever.
// They are checked in this order. A success is not undone by what happens to other members, and an error that
// shows while the infrastructure stops the gang is likely its consequence.
//
// The owner of a Gang decides on its end, and bare pods end with the last of them. A Gang is never lost,
// because another controller makes its pods again.
[[nodiscard]] Verdict judge(const model::Job& job, const std::vector<Member>& members);

// "pod bert-worker-1 on node n3 ended with exit code 1 (Error)", of a pod that has failed.
[[nodiscard]] std::string describeFailure(const model::Pod& pod);

}  // namespace trainyard::core
