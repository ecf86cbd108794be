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

// Process 1 of a member. Runs one program, whose input and output are its own, and ends as it ends; passes
// signals on, reaps what is left to it.
//
// At a new membership the program gets SIGTERM, has the grace to write its checkpoint, then SIGKILL, and what
// is left of it is killed; then it begins again, with the variables of the new size, in the same pod. Its
// exit code in between says nothing. Who does not belong any more ends with 0 instead.
//
// Members learn of a new size one after the other: who learns late may lose its program first, because a peer
// of it is gone. So one that fails by itself is not told to have failed before `settle` is over: if a new
// membership comes until then, it begins again at that one.
struct SupervisorOptions {
  std::vector<std::string> command;
  Environment environment;
  std::string membershipFile = {};  // empty: its size never changes
  std::chrono::milliseconds grace{30'000};
  std::chrono::milliseconds settle{15'000};
  bool keep = false;       // it follows its membership itself, or need not: only who leaves is ended
  std::string token = {};  // empty: no tasks
  std::string hubHost = {};
  int hubPort = kHubPort;
  int slots = 1;
};

// From the variables that the operator gives, and TRAINYARD_ON_RESIZE=keep, TRAINYARD_SLOTS,
// TRAINYARD_SETTLE_SECONDS of the template.
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
  void say(const std::string& what) const;

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
  std::int64_t startedAt_ = 0;  // generation of the program that runs
  pid_t program_ = 0;
  bool stopping_ = false;  // SIGTERM was sent to begin again, or to leave
  bool leaving_ = false;   // does not belong any more
  bool ordered_ = false;   // somebody ended us with a signal
  bool tasksLeft_ = false;
  std::optional<int> code_;  // of the program, once it will not begin again
  std::optional<Loop::TimerId> kill_;
  std::optional<Loop::TimerId> settle_;
  std::optional<Loop::TimerId> again_;
};

}  // namespace trainyard::launch
