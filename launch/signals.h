#pragma once

#include <functional>

#include "launch/loop.h"

namespace trainyard::launch {

// Receives SIGCHLD, and the signals that a supervisor passes on to its program, as events of the loop.
class Signals {
 public:
  Signals(Loop& loop, std::function<void(int signal)> onSignal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  int fd_;
};

}  // namespace trainyard::launch
