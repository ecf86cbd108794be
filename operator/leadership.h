#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/leader_election.h"
#include "operator/operator_metrics.h"
#include "operator/operator_options.h"

namespace trainyard::operator_ {

// The Lease that decides which replica plans and writes.
class Leadership {
 public:
  Leadership(const OperatorOptions& options, kube::ApiClient& leaseApi, base::Executor& executor,
             OperatorMetrics& metrics, const base::Logger& log)
      : options_(options), api_(leaseApi), executor_(executor), metrics_(metrics), log_(log) {}

  // Competes for the Lease; calls `started` once this replica holds it.
  void start(base::Rng rng, std::function<void(std::int64_t term)> started);
  [[nodiscard]] bool isHeld() const;
  void onLost(std::function<void()> callback);
  // Call before release(): the end of leadership is not a loss from now on.
  void expectEnd() { isEndExpected_ = true; }
  // Lets another replica lead at once. Calls `released` afterwards.
  void release(const std::function<void()>& released);

 private:
  const OperatorOptions& options_;
  kube::ApiClient& api_;
  base::Executor& executor_;
  OperatorMetrics& metrics_;
  base::Logger log_;
  std::unique_ptr<kube::LeaderElection> election_;
  std::function<void()> lost_;
  bool isEndExpected_ = false;
};

}  // namespace trainyard::operator_
