#include "kube/observed_lease.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainyard::kube {

std::optional<std::string> ObservedLease::observe(codec::Lease lease, base::Instant now) {
  const bool changed = !lease_ || lease.record != lease_->record;
  const bool newHolder = !lease_ || lease.record.holderIdentity != lease_->record.holderIdentity;
  lease_ = std::move(lease);
  lastTransitions_ = std::max(lastTransitions_, lease_->record.leaseTransitions);
  if (changed) changedAt_ = now;
  const std::string& holder = lease_->record.holderIdentity;
  return newHolder && !holder.empty() ? std::optional(holder) : std::nullopt;
}

base::Instant ObservedLease::expiry() const {
  return changedAt_ + std::chrono::seconds(lease_->record.leaseDurationSeconds);
}

}  // namespace trainyard::kube
