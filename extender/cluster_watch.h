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
#include "extender/cluster_facts.h"
#include "extender/extender_metrics.h"
#include "extender/watched_objects.h"

namespace trainyard::extender {

// Watches nodes, pods and TrainingJobs, and builds a view of them after changes. Lives on the loop of
// `executor`.
//
// Each view is built from scratch. (Rejected: changing the last view in place. It is faster per event, but
// readers would need locks and a wrong increment would stay.) Changes are gathered instead. The longer a
// build takes, the longer they are gathered, so that building never takes more than a fifth of the loop.
class ClusterWatch {
 public:
  // Receives every new view and the pods that were bound, finished or deleted since the last one.
  using Publish = std::function<void(ClusterFacts, std::vector<model::Uid> settled)>;

  ClusterWatch(kube::ApiClient& api, base::Executor& executor, base::Rng rng, const base::Logger& log,
               ExtenderMetrics& metrics, Publish publish);
  ~ClusterWatch();
  ClusterWatch(const ClusterWatch&) = delete;
  ClusterWatch& operator=(const ClusterWatch&) = delete;

  void start();
  // After stop(), no view is published.
  void stop();
  // Publishes a view of the current state even though nothing has changed.
  void publishAgain() { scheduleBuild(); }
  // True once all three initial lists were read and a view was published. Safe from any thread.
  [[nodiscard]] bool published() const { return published_.load(); }
  // When the watch that has been silent longest last received data; nullopt until all first lists are read.
  [[nodiscard]] std::optional<base::Instant> lastContact() const { return objects_.lastContact(); }
  // Sets the gauges of caches and watches, and of the view's age.
  void reportMetrics();

 private:
  void podChanged(const std::shared_ptr<const model::Pod>& before,
                  const std::shared_ptr<const model::Pod>& after);
  void awaitSync();
  void scheduleBuild();
  void build();

  base::Executor& executor_;
  base::Logger log_;
  ExtenderMetrics& metrics_;
  Publish publish_;
  WatchedObjects objects_;
  core::Ledger ledger_;  // of the newest view

  std::vector<model::Uid> settled_;
  base::TimerId timer_;
  bool buildScheduled_ = false;
  base::Instant nextBuild_{};
  base::Instant lastBuild_{};
  std::atomic<bool> published_ = false;
};

}  // namespace trainyard::extender
