#include "kube/leader_election.h"

#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "codec/lease.h"
#include "kube/leadership_claim.h"
#include "kube/lease_attempts.h"
#include "kube/lease_client.h"
#include "kube/lease_release.h"
#include "kube/observed_lease.h"
#include "kube/round.h"

namespace trainyard::kube {

using base::ErrorCode;

std::string uniqueIdentity(base::Rng& rng) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {'h', 'o', 's', 't'};
  return fmt::format("{}_{:016x}", host.data(), rng.next());
}

class LeaderElection::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(LeaseOptions options, ApiClient& api, base::Executor& executor, base::Rng rng, base::Logger log,
       LeaseCallbacks callbacks)
      : options_(std::move(options)),
        leases_(options_.ns, options_.name, api),
        executor_(executor),
        log_(std::move(log)),
        callbacks_(std::move(callbacks)),
        attempts_(executor, rng),
        claim_(options_.leaseDuration, options_.renewDeadline),
        release_(std::make_shared<LeaseRelease>(leases_, options_.identity, executor, log_)) {}

  void start() {
    if (state_ != State::kIdle) return;
    state_ = State::kCandidate;
    attempt();
  }

  void cancel() {
    round_.next();
    attempts_.cancelNext();
    executor_.cancel(deadlineTimer_);
    if (state_ != State::kLost) state_ = State::kStopped;
  }

  void release(std::function<void()> done) {
    const bool led = state_ == State::kLeader;
    // A candidate's request in flight may still acquire the lease.
    const bool mayHold =
        led || (state_ == State::kCandidate && attempts_.inFlight()) || state_ == State::kLost;
    cancel();
    if (led && callbacks_.onStoppedLeading) callbacks_.onStoppedLeading();
    if (!mayHold) {
      executor_.post(std::move(done));
      return;
    }
    release_->begin(std::move(done));
  }

  [[nodiscard]] bool held(base::Instant until) const {
    return state_ == State::kLeader && claim_.holds(until);
  }
  [[nodiscard]] base::Instant now() const { return executor_.now(); }
  [[nodiscard]] std::int64_t term() const { return claim_.term(); }

 private:
  // kLost: stepped down while the record may still name this process.
  enum class State { kIdle, kCandidate, kLeader, kLost, kStopped };

  template <typename Body>
  auto current(Body body) {
    return round_.guard(weak_from_this(), std::move(body));
  }

  // One tryAcquireOrRenew: writes from memory if the record is this process's; else reads, checks, writes.
  void attempt() {
    if (state_ == State::kLeader && now() >= claim_.deadline()) {
      stepDown("could not renew in time");
      return;
    }
    attempts_.begin();
    if (state_ == State::kLeader && lease_.get() != nullptr) {
      write(recordToWrite(), true);
      return;
    }
    read();
  }

  void read() {
    leases_.read(timeout(), current([](Impl& self, base::Result<codec::Lease> lease) {
                   self.wasRead(std::move(lease));
                 }));
  }

  void wasRead(base::Result<codec::Lease> lease) {
    if (!lease && lease.error().code == ErrorCode::kNotFound) {
      lease_.reset();
      write(recordToWrite(), false);
      return;
    }
    if (!lease) {
      attemptFailed(lease.error());
      return;
    }
    observe(std::move(*lease));
    const codec::LeaseRecord& record = lease_.record();
    if (state_ == State::kLeader &&
        (record.holderIdentity != options_.identity || record.leaseTransitions != claim_.term())) {
      stepDown(fmt::format("{} holds the Lease",
                           record.holderIdentity.empty() ? "nobody" : record.holderIdentity));
      return;
    }
    const bool foreign = !record.holderIdentity.empty() && record.holderIdentity != options_.identity;
    if (foreign && now() < lease_.expiry()) {
      lookAgain();
      return;
    }
    write(recordToWrite(), false);
  }

  void observe(codec::Lease lease) {
    const auto newHolder = lease_.observe(std::move(lease), now());
    if (newHolder && callbacks_.onNewLeader) callbacks_.onNewLeader(*newHolder);
  }

  // A take-over raises leaseTransitions even if the record has this identity: it may be of an earlier process
  // with the same configured identity, and their proposals must be distinguishable. If a leader's Lease was
  // deleted, it creates the Lease with its own term, so that terms never decrease.
  [[nodiscard]] codec::LeaseRecord recordToWrite() const {
    const std::string time = base::formatMicroTime(executor_.wallNow());
    codec::LeaseRecord record{.holderIdentity = options_.identity,
                              .leaseDurationSeconds = options_.leaseDuration.count(),
                              .acquireTime = time,
                              .renewTime = time,
                              .leaseTransitions = lease_.lastTransitions() + 1};
    if (state_ == State::kLeader) {
      record.acquireTime = claim_.acquireTime();
      record.leaseTransitions = claim_.term();
    }
    return record;
  }

  void write(const codec::LeaseRecord& record, bool fromMemory) {
    const base::Instant asked = now();
    leases_.write(lease_.get(), record, timeout(),
                  current([asked, record, fromMemory](Impl& self, base::Result<ApiResponse> answer) {
                    self.wasWritten(asked, record, fromMemory, leaseOf(std::move(answer)));
                  }));
  }

  void wasWritten(base::Instant asked, const codec::LeaseRecord& record, bool fromMemory,
                  base::Result<codec::Lease> lease) {
    if (!lease) {
      // The cached record was stale: reads and writes once more in the same attempt.
      if (fromMemory &&
          (lease.error().code == ErrorCode::kConflict || lease.error().code == ErrorCode::kNotFound)) {
        read();
        return;
      }
      attemptFailed(lease.error());
      return;
    }
    observe(std::move(*lease));
    succeeded(asked, record);
  }

  void succeeded(base::Instant asked, const codec::LeaseRecord& record) {
    if (!claim_.renew(asked, now())) {
      if (state_ == State::kLeader) {
        stepDown("the renewal was answered too late");
      } else {
        attemptOver();
      }
      return;
    }
    executor_.cancel(deadlineTimer_);
    deadlineTimer_ = executor_.postAt(claim_.deadline(),
                                      current([](Impl& self) { self.stepDown("could not renew in time"); }));
    if (state_ == State::kCandidate) {
      state_ = State::kLeader;
      claim_.begin(record);
      log_.info("leading", {{"identity", options_.identity}, {"term", claim_.term()}});
      attemptOver();
      if (callbacks_.onStartedLeading) callbacks_.onStartedLeading(claim_.term());
      return;
    }
    attemptOver();
  }

  void attemptFailed(const base::Error& error) {
    log_.warning("Lease not reached", {{"code", base::toString(error.code)}, {"error", error.message}});
    attemptOver();
  }

  // A candidate that only watches the record reads it three times per period, to take a released Lease soon.
  // (Rejected: a watch. It would report the release at once, but is one more stream with a liveness check.)
  void lookAgain() { attemptAgain(options_.retryPeriod / 3); }

  void attemptAgain(base::Instant::duration delay) {
    if (state_ == State::kCandidate) delay = attempts_.varied(delay);
    attempts_.repeatAfter(delay, current([](Impl& self) { self.attempt(); }));
  }

  void attemptOver() { attemptAgain(options_.retryPeriod); }

  void stepDown(const std::string& why) {
    log_.warning("no longer leading",
                 {{"identity", options_.identity}, {"term", claim_.term()}, {"why", why}});
    cancel();
    state_ = State::kLost;
    if (callbacks_.onStoppedLeading) callbacks_.onStoppedLeading();
  }

  [[nodiscard]] std::chrono::milliseconds timeout() const { return options_.renewDeadline / 2; }

  const LeaseOptions options_;
  const LeaseClient leases_;
  base::Executor& executor_;
  base::Logger log_;
  const LeaseCallbacks callbacks_;

  State state_ = State::kIdle;
  Round round_;
  LeaseAttempts attempts_;
  ObservedLease lease_;
  LeadershipClaim claim_;
  base::TimerId deadlineTimer_;
  const std::shared_ptr<LeaseRelease> release_;
};

LeaderElection::LeaderElection(LeaseOptions options, ApiClient& api, base::Executor& executor, base::Rng rng,
                               base::Logger log, LeaseCallbacks callbacks)
    : impl_(std::make_shared<Impl>(std::move(options), api, executor, rng, std::move(log),
                                   std::move(callbacks))) {}

LeaderElection::~LeaderElection() { impl_->cancel(); }

void LeaderElection::start() { impl_->start(); }
void LeaderElection::release(std::function<void()> done) { impl_->release(std::move(done)); }
bool LeaderElection::isLeader() const { return impl_->held(impl_->now()); }
bool LeaderElection::held(base::Instant until) const { return impl_->held(until); }
std::int64_t LeaderElection::term() const { return impl_->term(); }

}  // namespace trainyard::kube
