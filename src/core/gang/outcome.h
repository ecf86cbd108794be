#pragma once

#include <string>
#include <vector>

#include "core/ledger/members.h"
#include "model/job.h"

namespace trainyard::core {

// Lost: members are gone or going for a reason that is not the user's program.
enum class Outcome { kRunning, kSucceeded, kFailed, kLost };

struct Verdict {
  Outcome outcome = Outcome::kRunning;
  std::string reason = {};  // of the condition: "RolesSucceeded", "MemberFailed", "MemberLost"
  std::string message = {};
  std::vector<Member> lost = {};    // of kLost
  std::vector<Member> failed = {};  // of kFailed: all that ended with an error
};

// How a placed gang stands.
//
// Success: the roles of spec.success, all members of them or any one; without them the first of
// launcher, chief, master and worker that the job has, else every role.
// Lost: a pod was deleted, evicted, drained, or refused by its node. That is nobody's program's fault.
// Failure: a member of any role ended with an error.
// A member has ended as soon as all containers of its template have: what admission added may run for ever.
// In this order: a success that holds is not undone by what happens to the others, and an error that shows
// while the infrastructure takes the gang down is likely its consequence.
[[nodiscard]] Verdict judge(const model::Job& job, const std::vector<Member>& members);

// "pod bert-worker-1 on node n3 ended with exit code 1 (Error)", of a pod that has failed.
[[nodiscard]] std::string describeFailure(const model::Pod& pod);

}  // namespace trainyard::core
