#pragma once

#include <string>
#include <string_view>

#include "cli/convert/draft.h"

// Jobs that start processes over ssh; only converters include this file.
namespace trainyard::cli {

// Returns true for the name of a framework whose launcher starts the job's processes over ssh.
[[nodiscard]] bool launchesOverSsh(std::string_view framework);

// Kubeflow's /etc/mpi/hostfile is another file here; `implementation` is OpenMPI, Intel
// or MPICH. Rewrites texts that contain its path.
void moveHostFile(JobDraft& draft, const std::string& implementation);

// Notes settings of a program for connections to other members that override those of
// the operator: its keys, its port and its ssh.
void noteOwnSsh(JobDraft& draft);

}  // namespace trainyard::cli
