#include "operator/leadership.h"

#include <utility>

namespace trainyard::operator_ {

void Leadership::start(base::Rng rng, std::function<void(std::int64_t term)> started) {
  kube::LeaseOptions lease;
  lease.ns = options_.leaseNamespace;
  lease.name = options_.leaseName;
  lease.identity = options_.identity;
  kube::LeaseCallbacks callbacks;
  callbacks.onStartedLeading = [this, started = std::move(started)](std::int64_t term) {
    log_.info("leading", {{"identity", options_.identity}, {"term", term}});
    metrics_.setLeading(true);
    started(term);
  };
  callbacks.onStoppedLeading = [this] {
    metrics_.setLeading(false);
    if (isEndExpected_) return;
    log_.error("leadership lost", {{"identity", options_.identity}});
    if (lost_) lost_();
  };
  election_ = std::make_unique<kube::LeaderElection>(lease, api_, executor_, rng, log_.named("lease"),
                                                     std::move(callbacks));
  election_->start();
}

bool Leadership::isHeld() const { return election_ && election_->isLeader(); }

void Leadership::onLost(std::function<void()> callback) { lost_ = std::move(callback); }

void Leadership::release(const std::function<void()>& released) {
  if (!election_) return released();
  election_->release(released);
}

}  // namespace trainyard::operator_
