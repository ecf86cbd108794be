#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard::sim {

// One YAML file of any number of documents.
struct SandboxFile {
  std::string name;
  std::string text;
};

struct SandboxOptions {
  int nodes = 24;
  int gpus = 8;       // of each node
  double speed = 10;  // seconds of the cluster for each second here; 0: as fast as it goes
  bool once = false;  // every job must say how it ends, and must end so
  bool colours = false;
  std::uint64_t seed = 1;
  std::chrono::seconds pause{1};       // of the cluster, between two files
  std::chrono::seconds timeout{1800};  // of the cluster; for `once`
  std::vector<SandboxFile> files;
  SandboxFile script;  // how their jobs go, as their nodes run nothing: sandbox_script.h; may be empty
};

// Runs the jobs of the files on a simulated cluster with the real operator, printing what happens. Returns
// whether every job ended as the script or its annotation trainyard.dev/expect-phase says (always true
// without `once`). An error names the file and what is wrong with it.
[[nodiscard]] base::Result<bool> runSandbox(const SandboxOptions& options,
                                            const std::function<void(const std::string& line)>& print);

}  // namespace trainyard::sim
