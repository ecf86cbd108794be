#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace trainyard::operator_::console {

// Runs one task of each tenant at a time; further ones wait in the order of arrival.
class TenantQueue {
 public:
  // At most `maxWaiting` tasks of one tenant wait.
  explicit TenantQueue(std::size_t maxWaiting = std::numeric_limits<std::size_t>::max())
      : maxWaiting_(maxWaiting) {}

  // Runs `begin` at once, or when all earlier tasks of the tenant have left. Each task that has begun must
  // call leave(). Returns false if too many tasks of the tenant wait already.
  [[nodiscard]] bool take(const std::string& tenant, std::function<void()> begin);
  // Ends the running task of the tenant and starts its next one.
  void leave(const std::string& tenant);

 private:
  std::size_t maxWaiting_;
  std::map<std::string, std::deque<std::function<void()>>> waiting_;  // by tenant with a running task
};

}  // namespace trainyard::operator_::console
