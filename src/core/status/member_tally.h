#pragma once

#include <vector>

#include "core/gang.h"
#include "model/job.h"

namespace trainyard::core {

// How many members of a gang are in which state.
struct MemberTally {
  int size = 0;  // members of the gang after the change that is under way
  int gang = 0;  // members that exist; without any, the planned number
  int bound = 0;
  int running = 0;
  int ready = 0;
  int succeeded = 0;
};

// Counts them, for each role too.
[[nodiscard]] MemberTally countMembers(const model::JobSpec& spec, const model::GangRecord& record,
                                       const std::vector<Member>& members,
                                       std::vector<model::RoleStatus>& roles);

}  // namespace trainyard::core
