#include "operator/console/what_if_turns.h"

#include <utility>

namespace trainyard::operator_::console {

base::Result<std::shared_ptr<void>> WhatIfTurns::take(const std::string& tenant) {
  const base::Instant now = executor_.now();
  std::erase_if(rests_, [&](const auto& each) { return each.second <= now; });
  othersSentAway_ = othersSentAway_ || (whose_ && *whose_ != tenant);
  if (whose_)
    return base::fail(base::ErrorCode::kThrottled,
                      "another what-if is being computed; try again in a moment");
  if (rests_.contains(tenant))
    return base::fail(base::ErrorCode::kThrottled, "other users come first; try again in a moment");
  whose_ = tenant;
  return std::shared_ptr<void>(this, [this, tenant, now, alive = alive_](void*) {
    if (*alive) end(tenant, now);
  });
}

void WhatIfTurns::end(const std::string& tenant, base::Instant began) {
  whose_.reset();
  const base::Instant now = executor_.now();
  if (std::exchange(othersSentAway_, false)) rests_[tenant] = now + kRestPerWhatIf * (now - began);
}

}  // namespace trainyard::operator_::console
