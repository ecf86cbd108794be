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
  std::string identity;  // of this process only, see uniqueIdentity()
  // leaseDuration > renewDeadline > 1.2 × retryPeriod.
  std::chrono::seconds leaseDuration{10};
  std::chrono::milliseconds renewDeadline{7'000};
  std::chrono::milliseconds retryPeriod{1'500};  // of the leader; candidates read three times as often
};

// "host_1a2b3c4d5e6f7081": unique to the process, even across restarts.
[[nodiscard]] std::string uniqueIdentity(base::Rng& rng);

struct LeaseCallbacks {
  // `term` is the Lease's leaseTransitions: it grows with every take-over.
  std::function<void(std::int64_t term)> onStartedLeading;
  // Called once after onStartedLeading, when leadership ends for any reason. The object does not campaign
  // again: a program that lost its lease exits and restarts.
  std::function<void()> onStoppedLeading;
  std::function<void(const std::string& identity)> onNewLeader = {};
};

// Leader election over a Lease. Other holders are judged by the local clock since their record last changed,
// never by the times in it. The claim to lead lasts as long as others must wait: the lease duration after the
// last successful write was *requested*. A process that was paused finds isLeader() false before any of its
// timers runs. The Lease cannot stop writes that are already in flight, so critical writes carry
// resourceVersion or uid.
class LeaderElection {
 public:
  LeaderElection(LeaseOptions options, ApiClient& api, base::Executor& executor, base::Rng rng,
                 base::Logger log, LeaseCallbacks callbacks);
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  void start();
  // Ends the campaign. A leader stops leading at once (onStoppedLeading) and releases the Lease, so that the
  // next leader need not wait for its expiry. `done` is called once, even if the server is unreachable. Call
  // it after all work has ended.
  void release(std::function<void()> done);

  // To be checked before every write.
  [[nodiscard]] bool isLeader() const;
  // Returns true if the current claim still holds at `until`.
  [[nodiscard]] bool held(base::Instant until) const;
  [[nodiscard]] std::int64_t term() const;  // of the last leadership, -1 before any

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainyard::kube
