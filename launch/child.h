#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "launch/member_environment.h"

namespace trainyard::launch {

struct Command {
  std::vector<std::string> words;
  Environment environment;
  int output = -1;  // where its output and errors go; -1: where ours do
};

// How a process ended, as a shell says it: its exit code, or 128 and the signal.
[[nodiscard]] int codeOf(int waitStatus);

// The processes of this one. All children are reaped, also those that others left to process 1.
class Children {
 public:
  using Ended = std::function<void(int code)>;

  // Begins a group of its own. 0 where it cannot be started; then `why` says so.
  [[nodiscard]] pid_t start(const Command& command, Ended ended, std::string& why);
  // To be called whenever there was a SIGCHLD.
  void reap();
  // Kills what is left of a group, and whatever was left to us that is not of a child that runs; returns when
  // that is gone, or after half a second.
  void killLeftovers(pid_t group);

 private:
  // Whether there were any.
  bool killOrphans();

  std::map<pid_t, Ended> running_;
};

}  // namespace trainyard::launch
