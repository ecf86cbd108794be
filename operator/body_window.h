#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace trainyard::operator_ {

// Bounds the bytes of pod bodies that exist at once: those of a gang of thousands, or of many gangs, would
// exceed the program's memory. Namespaces take turns, so that the bodies of one do not delay those of the
// others. Within a namespace the order is that of arrival.
class BodyWindow {
 public:
  explicit BodyWindow(std::size_t maxBytes) : maxBytes_(maxBytes) {}

  // Runs `make` at once, or when enough bodies have left and it is the turn of namespace `ns`. The body
  // counts as `bytes` until leave(bytes). A body that is larger than the window is made while no other
  // exists.
  void enter(const std::string& ns, std::size_t bytes, std::function<void()> make);
  void leave(std::size_t bytes);

 private:
  struct Body {
    std::size_t bytes;
    std::function<void()> make;
  };

  void admitNext();

  const std::size_t maxBytes_;
  std::size_t underWay_ = 0;
  std::map<std::string, std::deque<Body>> waiting_;  // no namespace without a body
  std::string lastServed_;
  bool admitting_ = false;
};

}  // namespace trainyard::operator_
