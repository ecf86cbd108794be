#pragma once

#include <string>
#include <string_view>

#include "cli/convert/draft.h"

// Jobs that start processes over ssh; only converters include this file.
namespace trainyard::cli {

// Returns true for the name of a framework whose launcher starts the job's processes over ssh.
[[nodiscard]] bool launchesOverSsh(std::string_view framework);

// Kubeflow's /etc/mpi/hostfile and /etc/mpi/discover_hosts.sh are other files here; `implementation` is
// OpenMPI, Intel or MPICH. Rewrites texts that contain their paths.
void moveHostFile(JobDraft& draft, const std::string& implementation);

// Drops the command of a worker's container, because the operator starts an ssh server of its own. Notes one
// that was no ssh server; `what` names it.
void dropServerCommand(Json& container, const std::string& what, JobDraft& draft);

// Notes settings of a program for connections to other members that override those of
// the operator: its keys, its port and its ssh.
void noteOwnSsh(JobDraft& draft);

}  // namespace trainyard::cli
