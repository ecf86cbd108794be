#include "launch/supervisor.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "launch/log.h"

namespace trainyard::launch {
namespace {

constexpr int kCannotStart = 127;

}  // namespace

Supervisor::Supervisor(SupervisorOptions options)
    : options_(std::move(options)),
      membership_(options_.environment),
      program_(loop_, children_, [this](int code) { programEnded(code); }) {
  // This program may not be process 1, in tests or in a shared process namespace: orphans come to it anyway.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int Supervisor::run() {
  // Names are resolved on the one thread that also handles signals, so lookups must be short. The program's
  // own variables were read before.
  ::setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);
  signals_.emplace(loop_, [this](int signal) { onSignal(signal); });
  if (!options_.membershipFile.empty()) {
    watch_.emplace(loop_, options_.membershipFile, [this](const Membership& read) {
      // The kubelets of other members may be slower.
      if (membership_.readFromFile(read)) tasks_.report(read);
      learn(read);
    });
    membership_.begin(readMembership(options_.membershipFile));
  }
  if (membership_.leaving()) return 0;
  tasks_.start(loop_, children_, options_, membership_.self(), [this](const Membership& onMembership) {
    // Without the membership at birth the size behind the variables is unknown: only the member's own file
    // has it.
    if (membership_.knowsBirth()) learn(onMembership);
  });
  startProgram();
  return loop_.run();
}

void Supervisor::onSignal(int signal) {
  if (signal == SIGCHLD) return children_.reap();
  if (signal == SIGTERM || signal == SIGINT || signal == SIGQUIT) {
    program_.order();
    leaveTasks();
  }
  program_.passOn(signal);
  if (program_.ordered() && !program_.running() && settle_) {
    loop_.cancel(*settle_);
    settle_.reset();
  }
  endIfDone();
}

void Supervisor::learn(const Membership& membership) {
  if (!membership_.learn(membership)) return;
  const bool leaving = membership_.leaving();
  log("generation " + std::to_string(membership.generation) + ": " + std::to_string(membership.size) +
      " members of role " + membership.role + (leaving ? ", this one leaves" : ""));
  if (leaving) leaveTasks();
  if (options_.keep && !leaving) return;
  if (membership_.independent() && !leaving) return;
  if (program_.running()) return program_.stop(options_.grace);
  if (settle_) {
    loop_.cancel(*settle_);
    settle_.reset();
    if (!leaving && !program_.ordered()) return startProgram();
    code_ = 0;
  }
  endIfDone();
}

void Supervisor::startProgram() {
  const Command command{options_.command, membership_.environment(options_.environment)};
  startedAt_ = membership_.generation();
  code_.reset();
  std::string why;
  if (program_.start(command, why)) return;
  log(why);
  code_ = kCannotStart;
  leaveTasks();
  endIfDone();
}

void Supervisor::programEnded(int code) {
  if (membership_.leaving()) {
    code_ = 0;
    return endIfDone();
  }
  const bool restarts = !membership_.independent() && !options_.keep;
  const bool newer = restarts && membership_.now() && membership_.generation() > startedAt_;
  if (!program_.ordered() && (program_.stopping() || newer)) return startProgram();
  code_ = code;
  // The failure may follow from a resize: a peer may have restarted at a new size already.
  const bool mayFollow = code != 0 && restarts && membership_.now();
  if (mayFollow && !program_.ordered() && options_.settle.count() > 0) {
    settle_ = loop_.after(options_.settle, [this] {
      settle_.reset();
      leaveTasks();
      endIfDone();
    });
    return;
  }
  leaveTasks();
  endIfDone();
}

void Supervisor::leaveTasks() {
  tasks_.leave(options_.grace, [this] { endIfDone(); });
}

void Supervisor::endIfDone() {
  if (program_.running() || !code_ || settle_ || !tasks_.left()) return;
  loop_.stop(*code_);
}

}  // namespace trainyard::launch
