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
  std::vector<std::pair<std::string, std::string>> env = {};  // added to the parent's, with precedence
  std::chrono::milliseconds timeout{60'000};
  std::size_t maxOutputBytes = 1u << 20;
};

// Runs the program until it exits and returns its standard output. Blocks: call it on its own thread.
// kUnavailable if it cannot be started, fails (with the end of its standard error), takes too long or is
// stopped; the program and its children are then killed.
[[nodiscard]] base::Result<std::string> runChild(const ChildProcess& child, const std::stop_token& stop);

}  // namespace trainyard::kube
