#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard::sim {

// A YAML file with any number of documents.
struct SandboxFile {
  std::string name;
  std::string text;
};

struct SandboxOptions {
  int nodes = 24;
  int gpus = 8;       // of each node
  double speed = 10;  // seconds of the cluster per real second; 0: unlimited
  bool once = false;  // every job must have an expected phase and end in it
  bool colours = false;
  std::uint64_t seed = 1;
  std::chrono::seconds pause{1};       // of the cluster, between two files
  std::chrono::seconds timeout{1800};  // of the cluster; for `once`
  std::vector<SandboxFile> files;
  SandboxFile script;  // how jobs run, because nodes run no programs: sandbox_script.h; may be empty
};

// Runs the jobs of the files on a simulated cluster with the real operator and prints what happens. Returns
// true if every job ended as the script or its annotation trainyard.dev/expect-phase requires (always true
// without `once`). An error names the file and the reason.
[[nodiscard]] base::Result<bool> runSandbox(const SandboxOptions& options,
                                            const std::function<void(const std::string& line)>& print);

}  // namespace trainyard::sim
