#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace trainyard::kube {

// The number of an object's current attempt, as a member of that object. Answers and timers of earlier
// attempts are ignored.
class Round {
 public:
  void next() { ++number_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Wraps a callback so that it runs only while this round is the current one and the owner exists. The
  // callback gets the owner as its first argument.
  template <typename Owner, typename Body>
  [[nodiscard]] auto guard(std::weak_ptr<Owner> owner, Body body) const {
    return [this, weak = std::move(owner), number = number_, body = std::move(body)](auto&&... values) {
      if (const auto self = weak.lock(); self && number_ == number) {
        body(*self, std::forward<decltype(values)>(values)...);
      }
    };
  }

 private:
  std::uint64_t number_ = 0;
};

}  // namespace trainyard::kube
