#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "codec/lease.h"

namespace trainyard::kube {

// The Lease as last read or written. Its expiry is judged by the local clock since the record last changed,
// never by the times in it.
class ObservedLease {
 public:
  // Returns the holder if it is a new one.
  std::optional<std::string> observe(codec::Lease lease, base::Instant now);
  // There is no Lease.
  void reset() { lease_.reset(); }

  // Null if there is none, or none was read yet.
  [[nodiscard]] const codec::Lease* get() const { return lease_ ? &*lease_ : nullptr; }
  // Of the observed Lease, which must exist.
  [[nodiscard]] const codec::LeaseRecord& record() const { return lease_->record; }
  [[nodiscard]] base::Instant expiry() const;
  // The largest leaseTransitions of any record; -1 before any.
  [[nodiscard]] std::int64_t lastTransitions() const { return lastTransitions_; }

 private:
  std::optional<codec::Lease> lease_;
  base::Instant changedAt_{};  // by the local clock
  std::int64_t lastTransitions_ = -1;
};

}  // namespace trainyard::kube
