#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "launch/child.h"
#include "launch/loop.h"

namespace trainyard::launch {

// The program of a member, with the children that it starts in its process group.
class Program {
 public:
  // Calls `ended` with the code of the program once its group has ended.
  Program(Loop& loop, Children& children, std::function<void(int code)> ended)
      : loop_(loop), children_(children), ended_(std::move(ended)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Returns false on failure, with the reason in `why`.
  [[nodiscard]] bool start(const Command& command, std::string& why);
  // Sends SIGTERM to a running program, and SIGKILL to its group after the grace.
  void stop(std::chrono::milliseconds grace);
  // Passes a signal from outside on. SIGTERM is not repeated.
  void passOn(int signal);
  // A signal from outside ends this process, and the program with it.
  void order() { ordered_ = true; }

  [[nodiscard]] bool running() const { return pid_ > 0; }
  // Returns true if stop() ended the present or last run.
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool ordered() const { return ordered_; }

 private:
  void processEnded(int code);
  void awaitGroup(int code);
  void groupEnded(int code);

  Loop& loop_;
  Children& children_;
  std::function<void(int code)> ended_;
  pid_t pid_ = 0;
  bool stopping_ = false;
  bool ordered_ = false;
  std::optional<Loop::TimerId> kill_;
};

}  // namespace trainyard::launch
