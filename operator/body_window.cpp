#include "operator/body_window.h"

namespace trainyard::operator_ {

void BodyWindow::enter(std::size_t bytes, std::function<void()> make) {
  waiting_.emplace_back(bytes, std::move(make));
  letIn();
}

void BodyWindow::leave(std::size_t bytes) {
  underWay_ -= bytes;
  letIn();
}

// Answers that come at once leave within make(): they are seen by the same loop, not by one inside of it.
void BodyWindow::letIn() {
  if (letting_) return;
  letting_ = true;
  while (!waiting_.empty() && (underWay_ == 0 || underWay_ + waiting_.front().first <= mostBytes_)) {
    auto [bytes, make] = std::move(waiting_.front());
    waiting_.pop_front();
    underWay_ += bytes;
    make();
  }
  letting_ = false;
}

}  // namespace trainyard::operator_
