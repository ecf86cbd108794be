#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "core/guard/guard_view.h"
#include "core/ledger/ledger.h"
#include "extender/extender_metrics.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"

namespace trainyard::extender {

// Watches nodes, pods and TrainingJobs, and makes a view of them after changes. Lives on the loop of
// `executor`.
//
// A view is made whole each time. Changing the last one in place was the alternative: faster per event, but
// readers would need locks, and a wrong increment would stay wrong. Instead changes are gathered, for longer
// the longer a view takes to make, so that making them never takes more than a fifth of the loop.
class ClusterWatch {
 public:
  // Gets every new view, with the pods that it shows bound, finished or gone since the last one.
  using Publish =
      std::function<void(std::shared_ptr<const core::GuardView>, std::vector<model::Uid> settled)>;

  ClusterWatch(kube::ApiClient& api, base::Executor& executor, base::Rng rng, const base::Logger& log,
               ExtenderMetrics& metrics, Publish publish);
  ~ClusterWatch();
  ClusterWatch(const ClusterWatch&) = delete;
  ClusterWatch& operator=(const ClusterWatch&) = delete;

  void start();
  // No view is published after it.
  void stop();
  // Publishes the present view anew, though nothing has changed.
  void publishAgain() { scheduleBuild(); }
  // Whether all three first lists are in and a view has been published. Safe from any thread.
  [[nodiscard]] bool published() const { return published_.load(); }
  // When the watch was last heard that has been silent for longest; nothing before all first lists are in.
  [[nodiscard]] std::optional<base::Instant> heard() const;
  // Sets the gauges of caches and watches, and of the view's age.
  void reportMetrics();

 private:
  void podChanged(const std::shared_ptr<const model::Pod>& before,
                  const std::shared_ptr<const model::Pod>& after);
  void awaitSync();
  void scheduleBuild();
  void build();
  [[nodiscard]] bool synced() const;

  base::Executor& executor_;
  base::Logger log_;
  ExtenderMetrics& metrics_;
  Publish publish_;
  kube::ClusterCache cache_;
  core::Ledger ledger_;  // of the newest view
  kube::Reflector nodes_;
  kube::Reflector pods_;
  kube::Reflector jobs_;

  std::vector<model::Uid> settled_;
  base::TimerId timer_;
  bool buildScheduled_ = false;
  base::Instant nextBuild_{};
  base::Instant lastBuild_{};
  std::size_t undecodableSeen_ = 0;
  std::atomic<bool> published_ = false;
};

}  // namespace trainyard::extender
