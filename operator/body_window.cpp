#include "operator/body_window.h"

#include <utility>

namespace trainyard::operator_ {

void BodyWindow::enter(const std::string& ns, std::size_t bytes, std::function<void()> make) {
  waiting_[ns].push_back({bytes, std::move(make)});
  admitNext();
}

void BodyWindow::leave(std::size_t bytes) {
  underWay_ -= bytes;
  admitNext();
}

// Namespaces take turns in the order of their names. A body that does not fit keeps its turn: otherwise
// smaller bodies of other namespaces could delay it for as long as they arrive. A new namespace waits for at
// most one body of each other namespace. Immediate answers call leave() within make(): this loop handles
// them, not a nested one.
void BodyWindow::admitNext() {
  if (admitting_) return;
  admitting_ = true;
  while (!waiting_.empty()) {
    auto turn = waiting_.upper_bound(lastServed_);
    if (turn == waiting_.end()) turn = waiting_.begin();
    if (underWay_ != 0 && underWay_ + turn->second.front().bytes > maxBytes_) break;
    const Body body = std::move(turn->second.front());
    lastServed_ = turn->first;
    turn->second.pop_front();
    if (turn->second.empty()) waiting_.erase(turn);
    underWay_ += body.bytes;
    body.make();
  }
  admitting_ = false;
}

}  // namespace trainyard::operator_
