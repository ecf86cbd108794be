#include "kube/leader_election.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "codec/lease.h"
#include "kube/paths.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr int kReleaseTries = 3;
constexpr std::chrono::milliseconds kReleaseTimeout{2'000};

}  // namespace

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
        path_(kLeases.object(options_.ns, options_.name)),
        api_(api),
        executor_(executor),
        rng_(rng),
        log_(std::move(log)),
        callbacks_(std::move(callbacks)) {}

  void start() {
    if (state_ != State::kIdle) return;
    state_ = State::kCandidate;
    attempt();
  }

  void cancel() {
    ++round_;
    executor_.cancel(nextTimer_);
    executor_.cancel(deadlineTimer_);
    state_ = State::kStopped;
  }

  void release(std::function<void()> done) {
    const bool led = state_ == State::kLeader;
    // A candidate's request in flight may still acquire the lease.
    const bool mayHold = led || (state_ == State::kCandidate && busy_) || lostByDeadline_;
    cancel();
    if (led && callbacks_.onStoppedLeading) callbacks_.onStoppedLeading();
    if (!mayHold) {
      executor_.post(std::move(done));
      return;
    }
    handBack(kReleaseTries, std::move(done));
  }

  [[nodiscard]] bool held(base::Instant until) const {
    return state_ == State::kLeader && until < heldUntil_;
  }
  [[nodiscard]] base::Instant now() const { return executor_.now(); }
  [[nodiscard]] std::int64_t term() const { return term_; }

 private:
  enum class State { kIdle, kCandidate, kLeader, kStopped };

  template <typename Body>
  auto current(Body body) {
    return [weak = weak_from_this(), round = round_, body = std::move(body)](auto&&... values) {
      if (const auto self = weak.lock(); self && self->round_ == round) {
        body(*self, std::forward<decltype(values)>(values)...);
      }
    };
  }

  // One tryAcquireOrRenew: writes from memory if the record is this process's; else reads, checks, writes.
  void attempt() {
    if (state_ == State::kLeader && now() >= deadline_) {
      stepDown("could not renew in time");
      return;
    }
    busy_ = true;
    if (state_ == State::kLeader && lease_) {
      write(recordToWrite(), true);
      return;
    }
    read();
  }

  void read() {
    api_.request(
        {.path = path_, .timeout = timeout()},
        current([](Impl& self, base::Result<ApiResponse> answer) { self.wasRead(std::move(answer)); }));
  }

  void wasRead(base::Result<ApiResponse> answer) {
    if (!answer && answer.error().code == ErrorCode::kNotFound) {
      lease_.reset();
      write(recordToWrite(), false);
      return;
    }
    auto lease =
        answer ? codec::decodeLease(std::move(answer->body)) : tl::unexpected(std::move(answer.error()));
    if (!lease) {
      attemptFailed(lease.error());
      return;
    }
    observe(std::move(*lease));
    const codec::LeaseRecord& record = lease_->record;
    if (state_ == State::kLeader &&
        (record.holderIdentity != options_.identity || record.leaseTransitions != term_)) {
      stepDown(fmt::format("{} holds the Lease",
                           record.holderIdentity.empty() ? "nobody" : record.holderIdentity));
      return;
    }
    const auto expiry = observedAt_ + std::chrono::seconds(record.leaseDurationSeconds);
    const bool foreign = !record.holderIdentity.empty() && record.holderIdentity != options_.identity;
    if (foreign && now() < expiry) {
      lookAgain();
      return;
    }
    write(recordToWrite(), false);
  }

  void observe(codec::Lease lease) {
    const bool changed = !lease_ || lease.record != lease_->record;
    const bool newHolder = !lease_ || lease.record.holderIdentity != lease_->record.holderIdentity;
    lease_ = std::move(lease);
    lastTransitions_ = std::max(lastTransitions_, lease_->record.leaseTransitions);
    if (changed) observedAt_ = now();
    const std::string& holder = lease_->record.holderIdentity;
    if (newHolder && !holder.empty() && callbacks_.onNewLeader) callbacks_.onNewLeader(holder);
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
                              .leaseTransitions = lastTransitions_ + 1};
    if (state_ == State::kLeader) {
      record.acquireTime = acquireTime_;
      record.leaseTransitions = term_;
    }
    return record;
  }

  void write(const codec::LeaseRecord& record, bool fromMemory) {
    ApiRequest request;
    request.timeout = timeout();
    if (lease_) {
      request.method = net::Method::kPut;
      request.path = path_;
      request.body = codec::encodeLease(*lease_, record);
    } else {
      request.method = net::Method::kPost;
      request.path = kLeases.collection(options_.ns);
      request.body = codec::encodeNewLease(options_.ns, options_.name, record);
    }
    const base::Instant asked = now();
    api_.request(std::move(request),
                 current([asked, record, fromMemory](Impl& self, base::Result<ApiResponse> answer) {
                   self.wasWritten(asked, record, fromMemory, std::move(answer));
                 }));
  }

  void wasWritten(base::Instant asked, const codec::LeaseRecord& record, bool fromMemory,
                  base::Result<ApiResponse> answer) {
    auto lease =
        answer ? codec::decodeLease(std::move(answer->body)) : tl::unexpected(std::move(answer.error()));
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
    const base::Instant deadline = asked + options_.renewDeadline;
    if (now() >= deadline) {
      // The answer took so long that the claim is nearly or fully over.
      if (state_ == State::kLeader) {
        stepDown("the renewal was answered too late");
      } else {
        attemptOver();
      }
      return;
    }
    heldUntil_ = asked + options_.leaseDuration;
    deadline_ = deadline;
    executor_.cancel(deadlineTimer_);
    deadlineTimer_ =
        executor_.postAt(deadline_, current([](Impl& self) { self.stepDown("could not renew in time"); }));
    if (state_ == State::kCandidate) {
      state_ = State::kLeader;
      term_ = record.leaseTransitions;
      acquireTime_ = record.acquireTime;
      log_.info("leading", {{"identity", options_.identity}, {"term", term_}});
      attemptOver();
      if (callbacks_.onStartedLeading) callbacks_.onStartedLeading(term_);
      return;
    }
    attemptOver();
  }

  void attemptFailed(const base::Error& error) {
    log_.warning("Lease not reached", {{"code", base::toString(error.code)}, {"error", error.message}});
    attemptOver();
  }

  // A candidate that only watches the record reads it three times per period, to take a released Lease soon.
  // (Lost: a watch. It would report the release at once, but is one more stream with a liveness check.)
  void lookAgain() { attemptAgain(options_.retryPeriod / 3); }

  void attemptAgain(base::Instant::duration delay) {
    busy_ = false;
    // The delays of candidates vary from 1 to 2.2 times, so that they do not all write at the expiry.
    if (state_ == State::kCandidate) delay += delay * rng_.between(0, 1200) / 1000;
    nextTimer_ = executor_.postAfter(delay, current([](Impl& self) { self.attempt(); }));
  }

  void attemptOver() { attemptAgain(options_.retryPeriod); }

  void stepDown(const std::string& why) {
    log_.warning("no longer leading", {{"identity", options_.identity}, {"term", term_}, {"why", why}});
    lostByDeadline_ = true;
    cancel();
    if (callbacks_.onStoppedLeading) callbacks_.onStoppedLeading();
  }

  // Reads the record, and empties it if it is still this process's own. A late renewal then fails on the
  // changed resourceVersion.
  void handBack(int tries, std::function<void()> done) {
    api_.request({.path = path_, .timeout = kReleaseTimeout},
                 [weak = weak_from_this(), tries, done = std::move(done)](base::Result<ApiResponse> answer) {
                   const auto self = weak.lock();
                   if (!self) return;
                   const auto lease = answer ? codec::decodeLease(std::move(answer->body))
                                             : tl::unexpected(std::move(answer.error()));
                   if (!lease || lease->record.holderIdentity != self->options_.identity) {
                     done();
                     return;
                   }
                   self->putReleased(*lease, tries, done);
                 });
  }

  void putReleased(const codec::Lease& lease, int tries, std::function<void()> done) {
    const std::string time = base::formatMicroTime(executor_.wallNow());
    const codec::LeaseRecord record{.holderIdentity = "",
                                    .leaseDurationSeconds = 1,
                                    .acquireTime = time,
                                    .renewTime = time,
                                    .leaseTransitions = lease.record.leaseTransitions};
    api_.request({.method = net::Method::kPut,
                  .path = path_,
                  .body = codec::encodeLease(lease, record),
                  .timeout = kReleaseTimeout},
                 [weak = weak_from_this(), tries, done = std::move(done)](base::Result<ApiResponse> answer) {
                   const auto self = weak.lock();
                   if (!self) return;
                   if (!answer && answer.error().code == ErrorCode::kConflict && tries > 1) {
                     self->handBack(tries - 1, done);
                     return;
                   }
                   if (answer) self->log_.info("Lease released");
                   done();
                 });
  }

  [[nodiscard]] std::chrono::milliseconds timeout() const { return options_.renewDeadline / 2; }

  const LeaseOptions options_;
  const std::string path_;
  ApiClient& api_;
  base::Executor& executor_;
  base::Rng rng_;
  base::Logger log_;
  const LeaseCallbacks callbacks_;

  State state_ = State::kIdle;
  std::uint64_t round_ = 0;            // answers and timers of earlier rounds are ignored
  bool busy_ = false;                  // an attempt is in flight
  bool lostByDeadline_ = false;        // stepped down while the record may still name this process
  std::optional<codec::Lease> lease_;  // as last read or written
  base::Instant observedAt_{};         // when its record last changed, by the local clock
  std::int64_t lastTransitions_ = -1;
  std::int64_t term_ = -1;
  std::string acquireTime_;
  base::Instant heldUntil_{};
  base::Instant deadline_{};
  base::TimerId nextTimer_;
  base::TimerId deadlineTimer_;
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
