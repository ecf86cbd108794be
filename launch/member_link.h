#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launch/channel.h"
#include "launch/child.h"
#include "launch/membership.h"
#include "launch/running_tasks.h"

namespace trainyard::launch {

// The member's side of the task protocol. Runs the tasks that the hub dispatches, at most one per slot, and
// forwards their output. Reports and receives new sizes. Reconnects after a lost connection; tasks that ran
// at that time are killed, because the hub dispatches them again.
class MemberLink {
 public:
  struct Address {
    std::string host;
    int port = 0;
    std::string token;
  };
  struct Self {
    std::string role;
    std::string index;
    int slots = 1;
    Environment environment;  // of tasks
  };

  MemberLink(
      Loop& loop, Children& children, Address hub, Self self,
      std::function<void(Membership)> onMembership = [](const Membership&) {});
  ~MemberLink();
  MemberLink(const MemberLink&) = delete;
  MemberLink& operator=(const MemberLink&) = delete;

  // Reports a membership that other members may not have read yet.
  void report(const Membership& membership);
  // Takes no new tasks. After `grace` the running ones are killed and go to others. Then calls `left`.
  void leave(std::chrono::milliseconds grace, std::function<void()> left);

 private:
  void connect();
  void lost();
  void take(const Message& message);
  void receiveMembership(const Message& message);
  void finishLeaving();

  Loop& loop_;
  Address hub_;
  Self self_;
  std::function<void(Membership)> onMembership_;
  std::optional<Membership> reported_;
  std::unique_ptr<Channel> channel_;
  RunningTasks tasks_;
  bool leaving_ = false;
  std::function<void()> left_;
  std::chrono::milliseconds retry_{50};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::launch
