#include "operator/body_window.h"

#include <utility>

namespace trainyard::operator_ {

void BodyWindow::enter(const std::string& ns, std::size_t bytes, std::function<void()> make) {
  waiting_[ns].push_back({bytes, std::move(make)});
  letIn();
}

void BodyWindow::leave(std::size_t bytes) {
  underWay_ -= bytes;
  letIn();
}

// The turn goes round in the order of names. A body that does not fit keeps its turn: if smaller ones of
// other namespaces went first, it would wait for as long as they come. At most one body of each other
// namespace is made before that of a namespace that has just come. Answers that come at once leave within
// make(): they are seen by the same loop, not by one inside of it.
void BodyWindow::letIn() {
  if (letting_) return;
  letting_ = true;
  while (!waiting_.empty()) {
    auto turn = waiting_.upper_bound(lastServed_);
    if (turn == waiting_.end()) turn = waiting_.begin();
    if (underWay_ != 0 && underWay_ + turn->second.front().bytes > mostBytes_) break;
    const Body body = std::move(turn->second.front());
    lastServed_ = turn->first;
    turn->second.pop_front();
    if (turn->second.empty()) waiting_.erase(turn);
    underWay_ += body.bytes;
    body.make();
  }
  letting_ = false;
}

}  // namespace trainyard::operator_
