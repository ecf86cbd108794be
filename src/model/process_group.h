#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"

namespace trainyard::model {

// Which members of a gang form the process group, and in which order.

// Roles of the process group in the order of their ranks: master, chief, worker, then the others as written.
// Parameter servers, schedulers, servers, launchers and evaluators are not part of it.
[[nodiscard]] std::vector<const Role*> rankedRoles(const JobSpec& spec);

// The member's index in the process group, which the framework gets as its rank, by the gang's size in its
// record (model/gang_size.h). Rank 0 is master 0, else chief 0, else worker 0. nullopt for other roles.
[[nodiscard]] std::optional<int> memberRank(const Job& job, std::string_view role, int index);

// The member that has this rank; nullopt if the group has no such rank.
[[nodiscard]] std::optional<std::pair<const Role*, int>> memberOfRank(const Job& job, int rank);

// Members of the process group.
[[nodiscard]] int groupSize(const Job& job);

// Returns true if members of a role of this name send parameters to all the others: "ps" of TensorFlow,
// "server" of MXNet.
[[nodiscard]] bool sendsParameters(std::string_view role);

// The number of processes that a member of the role runs: one for each GPU, one without GPUs.
[[nodiscard]] std::int64_t slotsOf(const Role& role);

// Returns true if a launcher starts the job's processes over ssh: MPI and Horovod gangs with several members.
[[nodiscard]] bool launchesOverSsh(const Job& job);

inline constexpr std::string_view kLauncherRole = "launcher";

}  // namespace trainyard::model
