#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace trainyard::operator_::console {

// One at a time of each tenant, the others of his in the order in which they came.
class Turns {
 public:
  // So many of a tenant may wait.
  explicit Turns(std::size_t mostWaiting = std::numeric_limits<std::size_t>::max())
      : mostWaiting_(mostWaiting) {}

  // Runs `begin` at once, or when everybody of the tenant who came before has left. Whoever has begun leaves.
  // False where too many of his wait already.
  [[nodiscard]] bool take(const std::string& tenant, std::function<void()> begin);
  // The next one begins.
  void leave(const std::string& tenant);

 private:
  std::size_t mostWaiting_;
  std::map<std::string, std::deque<std::function<void()>>> waiting_;  // by tenant, where one has begun
};

}  // namespace trainyard::operator_::console
