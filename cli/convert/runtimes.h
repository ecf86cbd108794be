#pragma once

#include <string>
#include <vector>

#include "cli/convert/draft.h"

// Included by the converters alone.
namespace trainyard::cli {

// What a TrainJob gets from its runtime.
struct Runtime {
  std::string name;
  std::string framework;  // empty where it is not known
  bool found = false;     // its object is among the files
  Json object;            // the whole of it
  Json pod;               // template of its nodes; null where it is not known
  Json launcher;          // template of its job "launcher"; null without one
  std::string container = "node";
  Json nodes;                       // mlPolicy.numNodes
  Json processes;                   // mlPolicy.*.numProcPerNode
  bool launcherIsNode = true;       // mlPolicy.mpi.runLauncherAsNode
  std::string implementation;       // mlPolicy.mpi.mpiImplementation
  Json retries;                     // of the Job that makes its nodes; with MPI of the launcher's
  Json deadline;                    // activeDeadlineSeconds of that Job
  std::vector<std::string> others;  // names of its other jobs: dataset-initializer, model-initializer
};

// The runtime that `spec.runtimeRef` names: from the files, otherwise by its name.
[[nodiscard]] Runtime runtimeOf(const Json& reference, const Beside& beside);

// Notes what the runtime has and a TrainingJob does not get.
void noteRuntime(const Runtime& runtime, JobDraft& draft);

}  // namespace trainyard::cli
