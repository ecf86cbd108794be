#pragma once

#include <cstdint>
#include <optional>

#include "launch/child.h"
#include "launch/known_membership.h"
#include "launch/loop.h"
#include "launch/member_tasks.h"
#include "launch/membership_watch.h"
#include "launch/program.h"
#include "launch/signals.h"
#include "launch/supervisor_options.h"

namespace trainyard::launch {

// Process 1 of a member. Runs one program with its own input and output, and exits with the program's code.
// Passes signals on, and reaps orphans.
//
// On a new membership the program gets SIGTERM, the grace to write its checkpoint, then SIGKILL, together
// with its children. The program then restarts with the variables of the new size, in the same pod; its exit
// code in between is ignored. A member that no longer belongs to the job exits with 0 instead.
//
// Members learn a new size one after the other. The program of a late member may fail first, because a peer
// has ended. A failed program is therefore not reported before `settle` is over: if a new membership arrives
// in this time, the program restarts at that membership.
class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  [[nodiscard]] int run();

 private:
  void onSignal(int signal);
  void learn(const Membership& membership);
  void startProgram();
  void programEnded(int code);
  void leaveTasks();
  void endIfDone();

  SupervisorOptions options_;
  KnownMembership membership_;
  Loop loop_;
  Children children_;
  MemberTasks tasks_;
  Program program_;
  std::optional<Signals> signals_;
  std::optional<MembershipWatch> watch_;
  std::int64_t startedAt_ = 0;  // generation of the running program
  std::optional<int> code_;     // of the program, once it will not restart
  std::optional<Loop::TimerId> settle_;
};

}  // namespace trainyard::launch
