#pragma once

#include <string>
#include <vector>

#include "core/members.h"
#include "model/job.h"

namespace trainyard::core {

enum class Outcome { kRunning, kSucceeded, kFailed };

struct Verdict {
  Outcome outcome = Outcome::kRunning;
  std::string reason = {};   // of the condition: "RolesSucceeded", "MemberFailed", "MemberLost"
  std::string message = {};
};

// How a placed gang stands.
//
// Success: the roles of spec.success, all members of them or any one; without them the first of
// launcher, chief, master and worker that the job has, else every role.
// Failure: a member of any role ended with an error, or is gone. A member's failure wins over a success that
// another member reports in the same moment only where the success policy does not already hold.
[[nodiscard]] Verdict judge(const model::Job& job, const std::vector<Member>& members);

}  // namespace trainyard::core
