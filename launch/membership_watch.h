#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launch/loop.h"
#include "launch/membership.h"

namespace trainyard::launch {

// Reads the member's own membership file again whenever it may have changed.
class MembershipWatch {
 public:
  // Calls `onRead` with each membership that is read from now on, even if it is the same one.
  MembershipWatch(Loop& loop, std::string file, std::function<void(const Membership&)> onRead);
  ~MembershipWatch();
  MembershipWatch(const MembershipWatch&) = delete;
  MembershipWatch& operator=(const MembershipWatch&) = delete;

 private:
  void readEachSecond();
  void readAgain();

  Loop& loop_;
  std::string file_;
  std::function<void(const Membership&)> onRead_;
  int changes_ = -1;
  std::optional<Loop::TimerId> again_;
};

}  // namespace trainyard::launch
