#include "operator/console/tenant_queue.h"

#include <utility>

namespace trainyard::operator_::console {

bool TenantQueue::take(const std::string& tenant, std::function<void()> begin) {
  const auto [at, free] = waiting_.try_emplace(tenant);
  if (free) {
    begin();
    return true;
  }
  if (at->second.size() >= maxWaiting_) return false;
  at->second.push_back(std::move(begin));
  return true;
}

void TenantQueue::leave(const std::string& tenant) {
  const auto at = waiting_.find(tenant);
  if (at == waiting_.end()) return;
  if (at->second.empty()) {
    waiting_.erase(at);
    return;
  }
  const auto next = std::move(at->second.front());
  at->second.pop_front();
  next();
}

}  // namespace trainyard::operator_::console
