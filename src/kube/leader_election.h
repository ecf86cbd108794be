#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"

namespace trainyard::kube {

struct LeaseOptions {
  std::string ns = "trainyard-system";
  std::string name = "trainyard-operator";
  std::string identity;  // of this process alone, see uniqueIdentity()
  std::chrono::seconds leaseDuration{10};
  std::chrono::milliseconds renewDeadline{7'000};
  std::chrono::milliseconds retryPeriod{1'500};  // of the leader; who waits looks three times as often
};

// kInvalid unless leaseDuration > renewDeadline > 1.2 × retryPeriod and the names are there.
[[nodiscard]] base::Result<void> validate(const LeaseOptions& options);

// "host_1a2b3c4d5e6f7081": two processes never share it, not even one and its restarted self.
[[nodiscard]] std::string uniqueIdentity(base::Rng& rng);

struct LeaseCallbacks {
  // `term` is the Lease's leaseTransitions: it grows with every take-over.
  std::function<void(std::int64_t term)> onStartedLeading;
  // Called once after onStartedLeading, when leadership ends for whatever reason. There is no second campaign
  // in this object: a program that lost its lease ends and starts afresh.
  std::function<void()> onStoppedLeading;
  std::function<void(const std::string& identity)> onNewLeader = {};
};

// Leader election over a Lease. Others are judged by the local clock since their record last changed, never
// by the times they wrote. The claim to lead reaches only as far as others must wait: the lease duration
// after the last successful write was *asked for*. A process that was paused finds isLeader() false before
// any timer of its has run. The Lease fences nothing that is already on its way: critical writes carry
// resourceVersion or uid.
class LeaderElection {
 public:
  LeaderElection(LeaseOptions options, ApiClient& api, base::Executor& executor, base::Rng rng,
                 base::Logger log, LeaseCallbacks callbacks);
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  void start();
  // Ends the campaign; a leader stops leading at once (onStoppedLeading) and hands the Lease back, so that
  // the next one need not wait. `done` comes once, also when the server cannot be reached. Call it when all
  // work has ended.
  void release(std::function<void()> done);

  // To be asked before every write.
  [[nodiscard]] bool isLeader() const;
  // Whether the claim, as it stands, still holds at `until`.
  [[nodiscard]] bool held(base::Instant until) const;
  [[nodiscard]] std::int64_t term() const;  // of the last leadership, -1 before any

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainyard::kube
