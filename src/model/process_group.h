#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"

namespace trainyard::model {

// Who of a gang computes together, and in which order.

// Roles of the process group in the order of their ranks: master, chief, worker, then the others as written.
// Parameter servers, schedulers, servers, launchers and evaluators are not part of it.
[[nodiscard]] std::vector<const Role*> rankedRoles(const JobSpec& spec);

// The member's place in the process group, which the framework is told as its rank; as large as the gang is
// by its record (model/gang_size.h). Rank 0 is master 0, else chief 0, else worker 0. nullopt outside of it.
[[nodiscard]] std::optional<int> memberRank(const Job& job, std::string_view role, int index);

// The member that has this rank; nullopt where the group has no such rank.
[[nodiscard]] std::optional<std::pair<const Role*, int>> memberOfRank(const Job& job, int rank);

// Members of the process group.
[[nodiscard]] int groupSize(const Job& job);

// Whether members of a role of this name send parameters to all the others: "ps" of TensorFlow, "server" of
// MXNet.
[[nodiscard]] bool sendsParameters(std::string_view role);

// Processes that a member of the role is meant to run: one for each GPU, one without GPUs.
[[nodiscard]] std::int64_t slotsOf(const Role& role);

// Whether a launcher starts the job's processes over ssh: MPI and Horovod, of gangs of more than one.
[[nodiscard]] bool launchesOverSsh(const Job& job);

inline constexpr std::string_view kLauncherRole = "launcher";

}  // namespace trainyard::model
