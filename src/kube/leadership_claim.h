#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "codec/lease.h"

namespace trainyard::kube {

// The claim to lead. It lasts as long as others must wait: the lease duration after the last successful write
// was requested.
class LeadershipClaim {
 public:
  LeadershipClaim(base::Instant::duration leaseDuration, base::Instant::duration renewDeadline)
      : leaseDuration_(leaseDuration), renewDeadline_(renewDeadline) {}

  // A write that was requested at `asked` has succeeded. Returns false if its answer took so long that the
  // claim is nearly or fully over.
  [[nodiscard]] bool renew(base::Instant asked, base::Instant now) {
    if (now >= asked + renewDeadline_) return false;
    heldUntil_ = asked + leaseDuration_;
    deadline_ = asked + renewDeadline_;
    return true;
  }
  // Leadership begins with this record.
  void begin(const codec::LeaseRecord& record) {
    term_ = record.leaseTransitions;
    acquireTime_ = record.acquireTime;
  }

  [[nodiscard]] bool holds(base::Instant until) const { return until < heldUntil_; }
  // By when the next renewal must have succeeded.
  [[nodiscard]] base::Instant deadline() const { return deadline_; }
  [[nodiscard]] std::int64_t term() const { return term_; }  // -1 before any leadership
  [[nodiscard]] const std::string& acquireTime() const { return acquireTime_; }

 private:
  const base::Instant::duration leaseDuration_;
  const base::Instant::duration renewDeadline_;
  std::int64_t term_ = -1;
  std::string acquireTime_;
  base::Instant heldUntil_{};
  base::Instant deadline_{};
};

}  // namespace trainyard::kube
