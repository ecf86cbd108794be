#pragma once

#include <string>
#include <vector>

#include "launch/member_environment.h"

namespace trainyard::launch {

// trainyard-launch run|submit|wait|output|cancel|tasks|batch, from inside of a member: asks the hub of its
// job. Gives the exit code: for run and wait that of the task (of several, the largest), 125 where the hub
// cannot be reached or refuses, 2 for a command line that is none.
[[nodiscard]] int runTaskCommand(const std::string& verb, const std::vector<std::string>& arguments,
                                 const Environment& environment);

}  // namespace trainyard::launch
