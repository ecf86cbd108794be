#pragma once

#include <atomic>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "extender/api_contact.h"
#include "extender/cluster_watch.h"
#include "extender/extender_metrics.h"
#include "extender/guard_service.h"
#include "kube/api_client.h"

namespace trainyard::extender {

// Gives the service its view of the cluster, and withdraws it while the API server is not in contact. Lives
// on the executor's loop.
class ViewFeed {
 public:
  ViewFeed(kube::ApiClient& api, base::Executor& executor, base::Rng rng, const base::Logger& log,
           ExtenderMetrics& metrics, GuardService& service);
  ViewFeed(const ViewFeed&) = delete;
  ViewFeed& operator=(const ViewFeed&) = delete;

  void start();
  // After stop(), no view is published.
  void stop() { watch_.stop(); }
  void reportMetrics() { watch_.reportMetrics(); }
  // The view is withdrawn. Safe from any thread.
  [[nodiscard]] bool isStale() const { return stale_; }

 private:
  void contactLost(std::string_view why);
  void contactRegained();

  base::Logger log_;
  GuardService& service_;
  ClusterWatch watch_;
  ApiContact contact_;
  std::atomic<bool> stale_ = false;
};

}  // namespace trainyard::extender
