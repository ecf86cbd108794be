#pragma once

#include <string>
#include <vector>

#include "launch/member_environment.h"

namespace trainyard::launch {

// Handles trainyard-launch run|submit|wait|output|cancel|tasks|batch inside of a member: sends requests to
// the job's hub. Returns the exit code: for run and wait that of the task (the largest of several); 125 if
// the hub cannot be reached or refuses; 2 for an invalid command line.
[[nodiscard]] int runTaskCommand(const std::string& verb, const std::vector<std::string>& arguments,
                                 const Environment& environment);

}  // namespace trainyard::launch
