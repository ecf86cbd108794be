#pragma once

#include <string>

#include "cli/convert/draft.h"

// Jobs that start processes over ssh; included by the converters alone.
namespace trainyard::cli {

// Kubeflow's /etc/mpi/hostfile is another file here; `implementation` is OpenMPI, Intel or MPICH. Texts that
// name it are rewritten.
void moveHostFile(JobDraft& draft, const std::string& implementation);

// Notes what a program does to reach the other members itself, by settings that take the place of those of
// the operator: its keys, its port and its ssh.
void noteOwnSsh(JobDraft& draft);

}  // namespace trainyard::cli
