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
  int output = -1;  // receives output and errors; -1: inherited
};

// Returns the exit status as a shell reports it: the exit code, or 128 plus the signal.
[[nodiscard]] int codeOf(int waitStatus);

// The child processes of this process. All of them are reaped, including orphans that process 1 inherits.
class Children {
 public:
  using Ended = std::function<void(int code)>;

  // Starts a command in a process group of its own. Returns 0 on failure, with the reason in `why`.
  [[nodiscard]] pid_t start(const Command& command, Ended ended, std::string& why);
  // Must be called after every SIGCHLD.
  void reap();
  // Kills the rest of a process group, and every inherited orphan that does not belong to a running child.
  // Returns once they have ended, or after half a second.
  void killLeftovers(pid_t group);

 private:
  // Returns true if there were any.
  bool killOrphans();

  std::map<pid_t, Ended> running_;
};

}  // namespace trainyard::launch
