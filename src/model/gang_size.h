#pragma once

#include <cstdint>

#include "model/gang.h"
#include "model/job.h"

namespace trainyard::model {

// The size of a gang. Size is state: the record has the size, and only a gang without placement is as large
// as its spec requests (JobSpec::startReplicas). Code that charges, places, names or reports a gang reads its
// size here.

// Members of the role by the record with the proposal merged: the number after the change that is under
// way, or without it if the proposal is aborting. A gang without any member has no placement, and gets
// the number that it starts with. Members are 0 to n - 1 of their role: a gang shrinks from its last
// member.
[[nodiscard]] int gangMembers(const JobSpec& spec, const GangRecord& record, const Role& role);
[[nodiscard]] int gangMembers(const Job& job, const Role& role);
// Members of all roles.
[[nodiscard]] int gangMembers(const JobSpec& spec, const GangRecord& record);
[[nodiscard]] int gangMembers(const Job& job);
// Returns true for a TrainingJob of one pod: until that is bound, the pod is its record (docs/protocol.md).
[[nodiscard]] bool isSinglePod(const Job& job);

// GPUs of the gang at gangMembers(), at its desired size, and in its current placement.
[[nodiscard]] std::int64_t gangGpus(const JobSpec& spec, const GangRecord& record);
[[nodiscard]] std::int64_t desiredGpus(const JobSpec& spec);
[[nodiscard]] std::int64_t placedGpus(const JobSpec& spec, const GangRecord& record);

}  // namespace trainyard::model
