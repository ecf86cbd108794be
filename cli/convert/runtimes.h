#pragma once

#include <optional>
#include <string>

#include "cli/convert/draft.h"

// Included by the converters alone.
namespace trainyard::cli {

// What a TrainJob gets from its runtime.
struct Runtime {
  std::string framework;  // empty where it is not known
  bool found = false;     // its object is among the files
  Json pod;               // template of its nodes; null where it is not known
  std::string container = "node";
  Json nodes;          // mlPolicy.numNodes
  Json processes;      // mlPolicy.*.numProcPerNode
  Json retries;        // of the Job that makes its nodes
  std::string others;  // names of its other jobs: "dataset-initializer, model-initializer"
};

// The runtime that `spec.runtimeRef` names: from the files, otherwise by its name.
[[nodiscard]] Runtime runtimeOf(const Json& reference, const Beside& beside);

}  // namespace trainyard::cli
