#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "launch/child.h"
#include "launch/hub.h"
#include "launch/loop.h"
#include "launch/member_link.h"
#include "launch/supervisor_options.h"

namespace trainyard::launch {

// The member's part in the tasks of its job: its link to the hub, and the hub itself in member 0. Does
// nothing if the job has no tasks.
class MemberTasks {
 public:
  // Begins to take tasks. `onMembership` gets each membership that another member reports.
  void start(Loop& loop, Children& children, const SupervisorOptions& options, const Member& self,
             std::function<void(Membership)> onMembership);
  // Reports a membership that other members may not have read yet.
  void report(const Membership& membership);
  // Takes no new tasks. Calls `left` once the running ones have ended or, after `grace`, go to others; it is
  // not called without tasks.
  void leave(std::chrono::milliseconds grace, std::function<void()> left);
  // Returns true if leave() was called, and no task is left.
  [[nodiscard]] bool left() const { return left_; }

 private:
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<MemberLink> link_;
  bool left_ = false;
};

}  // namespace trainyard::launch
