#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

namespace trainyard::operator_::console {

// One at a time of each tenant, the others of his in the order in which they came.
class Turns {
 public:
  // Runs `begin` at once, or when everybody of the tenant who came before has left. Whoever has begun leaves.
  void take(const std::string& tenant, std::function<void()> begin);
  // The next one begins.
  void leave(const std::string& tenant);

 private:
  std::map<std::string, std::deque<std::function<void()>>> waiting_;  // by tenant, where one has begun
};

}  // namespace trainyard::operator_::console
