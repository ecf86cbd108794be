#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "launch/channel.h"
#include "launch/child.h"
#include "launch/membership.h"

namespace trainyard::launch {

// The side of one member: runs the tasks that the hub gives it, as many at a time as it has slots, and says
// what they say; tells and hears of new sizes. Connects again whenever the connection is lost; what ran then
// is killed, as it is begun anew elsewhere.
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
      std::function<void(Membership)> heard = [](const Membership&) {});
  ~MemberLink();
  MemberLink(const MemberLink&) = delete;
  MemberLink& operator=(const MemberLink&) = delete;

  // What the others may not know yet.
  void tell(const Membership& membership);
  // No new tasks; those that run may end within the grace, are killed then and go to others. Then `left`.
  void leave(std::chrono::milliseconds grace, std::function<void()> left);

 private:
  struct Running;

  void connect();
  void lost();
  void take(const Message& message);
  void hear(const Message& message);
  void start(const Message& message);
  void readOutput(const std::string& id);
  void ended(const std::string& id, int code);
  void finishLeaving();

  Loop& loop_;
  Children& children_;
  Address hub_;
  Self self_;
  std::function<void(Membership)> heard_;
  std::optional<Membership> told_;
  std::unique_ptr<Channel> channel_;
  std::map<std::string, std::unique_ptr<Running>> running_;  // by "task/attempt"
  bool leaving_ = false;
  bool over_ = false;  // the grace of leaving
  std::function<void()> left_;
  std::chrono::milliseconds retry_{50};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::launch
