#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::kube {

struct ChildProcess {
  std::string command;  // looked up in PATH unless it has a slash
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // added to ours, winning over it
  std::chrono::milliseconds timeout{60'000};
  std::size_t maxOutputBytes = 1u << 20;
};

// Runs the program to its end and gives its standard output. Blocks: for a thread of its own. kUnavailable
// when it cannot be started, fails (with the end of what it wrote to standard error), takes too long or is
// stopped; it and its children are killed then.
[[nodiscard]] base::Result<std::string> runChild(const ChildProcess& child, const std::stop_token& stop);

}  // namespace trainyard::kube
