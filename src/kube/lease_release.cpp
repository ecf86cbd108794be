#include "kube/lease_release.h"

#include <chrono>

namespace trainyard::kube {
namespace {

constexpr int kReleaseTries = 3;
constexpr std::chrono::milliseconds kReleaseTimeout{2'000};

}  // namespace

void LeaseRelease::begin(std::function<void()> done) { readRecord(kReleaseTries, std::move(done)); }

void LeaseRelease::readRecord(int tries, std::function<void()> done) {
  leases_.read(kReleaseTimeout, [weak = weak_from_this(), tries,
                                 done = std::move(done)](const base::Result<codec::Lease>& lease) {
    const auto self = weak.lock();
    if (!self) return;
    if (!lease || lease->record.holderIdentity != self->identity_) {
      done();
      return;
    }
    self->emptyRecord(*lease, tries, done);
  });
}

void LeaseRelease::emptyRecord(const codec::Lease& lease, int tries, std::function<void()> done) {
  const std::string time = base::formatMicroTime(executor_.wallNow());
  const codec::LeaseRecord record{.holderIdentity = "",
                                  .leaseDurationSeconds = 1,
                                  .acquireTime = time,
                                  .renewTime = time,
                                  .leaseTransitions = lease.record.leaseTransitions};
  leases_.write(
      &lease, record, kReleaseTimeout,
      [weak = weak_from_this(), tries, done = std::move(done)](const base::Result<ApiResponse>& answer) {
        const auto self = weak.lock();
        if (!self) return;
        if (!answer && answer.error().code == base::ErrorCode::kConflict && tries > 1) {
          self->readRecord(tries - 1, done);
          return;
        }
        if (answer) self->log_.info("Lease released");
        done();
      });
}

}  // namespace trainyard::kube
