#pragma once

#include <string>
#include <vector>

#include "cli/convert/draft.h"

// Only converters include this file.
namespace trainyard::cli {

// The parts of a TrainJob that come from its runtime.
struct Runtime {
  std::string name;
  std::string framework;  // empty if it is not known
  bool found = false;     // the files contain its object
  Json object;            // the whole object
  Json pod;               // template of its nodes; null if it is not known
  Json launcher;          // template of its job "launcher"; null without one
  std::string container = "node";
  Json nodes;                       // mlPolicy.numNodes
  Json processes;                   // mlPolicy.*.numProcPerNode
  bool launcherIsNode = true;       // mlPolicy.mpi.runLauncherAsNode
  std::string implementation;       // mlPolicy.mpi.mpiImplementation
  Json retries;                     // of the Job that creates its nodes; with MPI, of the launcher's Job
  Json deadline;                    // activeDeadlineSeconds of that Job
  std::vector<std::string> others;  // names of its other jobs: dataset-initializer, model-initializer
};

// Returns the runtime of `spec.runtimeRef`: from the files, or else derived from its name.
[[nodiscard]] Runtime runtimeOf(const Json& reference, const Companions& companions);

// Notes the settings of the runtime that a TrainingJob does not get.
void noteRuntime(const Runtime& runtime, JobDraft& draft);

}  // namespace trainyard::cli
