#pragma once

#include <cstdint>

#include "model/gang.h"
#include "model/job.h"

namespace trainyard::model {

// How large a gang is. Size is state: the record tells what a gang has, and only a gang without places is as
// large as its spec asks for (JobSpec::startReplicas). Whoever charges, places, names or reports a gang asks
// here.

// Members of the role by the record, the proposal merged: what the gang will have when the change that is
// under way has come true; without it where that is being aborted. Where no member of any role is left, the
// gang has no places, and is to have what it starts with. Members are 0 to n - 1 of their role: a gang
// shrinks from its last.
[[nodiscard]] int gangMembers(const JobSpec& spec, const GangRecord& record, const Role& role);
[[nodiscard]] int gangMembers(const Job& job, const Role& role);
// Of all roles.
[[nodiscard]] int gangMembers(const JobSpec& spec, const GangRecord& record);
[[nodiscard]] int gangMembers(const Job& job);

// GPUs of the gang as large as that, as large as it is to be, and of the places that it has at this moment.
[[nodiscard]] std::int64_t gangGpus(const JobSpec& spec, const GangRecord& record);
[[nodiscard]] std::int64_t desiredGpus(const JobSpec& spec);
[[nodiscard]] std::int64_t placedGpus(const JobSpec& spec, const GangRecord& record);

}  // namespace trainyard::model
