#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/child.h"
#include "launch/hub.h"
#include "launch/loop.h"
#include "launch/member_link.h"
#include "launch/membership.h"

namespace trainyard::launch {

inline constexpr int kHubPort = 29'390;

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
struct SupervisorOptions {
  std::vector<std::string> command;
  Environment environment;
  std::string membershipFile = {};  // empty: the size never changes
  std::chrono::milliseconds grace{30'000};
  std::chrono::milliseconds settle{15'000};
  bool keep = false;       // the program handles a new membership itself: only a leaving member is ended
  std::string token = {};  // empty: no tasks
  std::string hubHost = {};
  int hubPort = kHubPort;
  int slots = 1;
};

// Reads the variables that the operator sets, and TRAINYARD_ON_RESIZE=keep, TRAINYARD_SLOTS and
// TRAINYARD_SETTLE_SECONDS from the template.
[[nodiscard]] SupervisorOptions supervisorOptions(const Environment& environment,
                                                  std::vector<std::string> command);

class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  [[nodiscard]] int run();

 private:
  void takeSignals();
  void onSignal(int signal);
  void watchMembership();
  void lookEachSecond();
  void readAgain();
  void learn(const Membership& membership);
  void startProgram();
  void stopProgram();
  void programEnded(int code);
  void awaitGroup(int code);
  void groupEnded(int code);
  void leaveTasks();
  void endIfDone();
  void log(const std::string& what) const;

  SupervisorOptions options_;
  Member self_;
  Loop loop_;
  Children children_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<MemberLink> link_;
  int signals_ = -1;
  int changes_ = -1;
  std::optional<Membership> born_;
  std::optional<Membership> now_;
  std::int64_t startedAt_ = 0;  // generation of the running program
  pid_t program_ = 0;
  bool stopping_ = false;  // SIGTERM was sent to restart, or to leave
  bool leaving_ = false;   // no longer belongs to the job
  bool ordered_ = false;   // a signal from outside ends this process
  bool tasksLeft_ = false;
  std::optional<int> code_;  // of the program, once it will not restart
  std::optional<Loop::TimerId> kill_;
  std::optional<Loop::TimerId> settle_;
  std::optional<Loop::TimerId> again_;
};

}  // namespace trainyard::launch
