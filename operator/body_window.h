#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace trainyard::operator_ {

// Lets bodies of pods be made only while little is under way: those of a gang of thousands, or of many gangs
// at once, would together be more memory than the program may have. First come, first served.
class BodyWindow {
 public:
  explicit BodyWindow(std::size_t mostBytes) : mostBytes_(mostBytes) {}

  // `make` runs at once, or when enough of what came before has left. What it makes has about `bytes`, until
  // leave(bytes). One that is larger than the window passes alone.
  void enter(std::size_t bytes, std::function<void()> make);
  void leave(std::size_t bytes);

 private:
  void letIn();

  const std::size_t mostBytes_;
  std::size_t underWay_ = 0;
  std::deque<std::pair<std::size_t, std::function<void()>>> waiting_;
  bool letting_ = false;
};

}  // namespace trainyard::operator_
