#include "launch/member_tasks.h"

#include <string>
#include <utility>

#include "launch/log.h"
#include "launch/sockets.h"

namespace trainyard::launch {

void MemberTasks::start(Loop& loop, Children& children, const SupervisorOptions& options, const Member& self,
                        std::function<void(Membership)> onMembership) {
  if (options.token.empty() || options.hubHost.empty()) return;
  if (self.rank == 0) {
    const int listener = listenOn(options.hubPort);
    if (listener < 0)
      log("no tasks: port " + std::to_string(options.hubPort) + " is taken");
    else
      hub_ = std::make_unique<Hub>(loop, listener, options.token);
  }
  link_ = std::make_unique<MemberLink>(
      loop, children, MemberLink::Address{options.hubHost, options.hubPort, options.token},
      MemberLink::Self{self.role, std::to_string(self.index), options.slots, options.environment},
      std::move(onMembership));
}

void MemberTasks::report(const Membership& membership) {
  if (link_) link_->report(membership);
}

void MemberTasks::leave(std::chrono::milliseconds grace, std::function<void()> left) {
  if (!link_) {
    left_ = true;
    return;
  }
  link_->leave(grace, [this, left = std::move(left)] {
    left_ = true;
    left();
  });
}

}  // namespace trainyard::launch
