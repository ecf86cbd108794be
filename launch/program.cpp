#include "launch/program.h"

#include <csignal>

namespace trainyard::launch {
namespace {

constexpr int kEndedBySigterm = 128 + SIGTERM;
constexpr std::chrono::milliseconds kGroupLook{20};

}  // namespace

bool Program::start(const Command& command, std::string& why) {
  stopping_ = false;
  pid_ = children_.start(command, [this](int code) { processEnded(code); }, why);
  return running();
}

void Program::stop(std::chrono::milliseconds grace) {
  if (stopping_) return;
  stopping_ = true;
  ::kill(pid_, SIGTERM);
  kill_ = loop_.after(grace, [this] {
    kill_.reset();
    if (running()) ::kill(-pid_, SIGKILL);
  });
}

void Program::passOn(int signal) {
  if (running() && !(stopping_ && signal == SIGTERM)) ::kill(pid_, signal);
}

// A shell script without a SIGTERM handler ends at once, and its children do not receive the signal. The
// whole group gets SIGTERM now, and the rest of the grace.
void Program::processEnded(int code) {
  const bool bySignalFromUs = code == kEndedBySigterm && (stopping_ || ordered_);
  if (bySignalFromUs && ::kill(-pid_, SIGTERM) == 0) return awaitGroup(code);
  groupEnded(code);
}

void Program::awaitGroup(int code) {
  if (::kill(-pid_, 0) != 0) return groupEnded(code);
  loop_.after(kGroupLook, [this, code] { awaitGroup(code); });
}

void Program::groupEnded(int code) {
  if (kill_) loop_.cancel(*kill_);
  kill_.reset();
  children_.killLeftovers(std::exchange(pid_, 0));
  ended_(code);
}

}  // namespace trainyard::launch
