#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "agent/node_traffic.h"
#include "agent/pod_cache.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/reflector.h"

namespace trainyard::agent {

// Watches the pods of jobs on this node, and reports their traffic. Lives on the executor's loop.
class PodWatch {
 public:
  // Calls `changed` once the pods are listed, and shortly after each change.
  PodWatch(const std::string& node, kube::ApiClient& api, base::Executor& executor, base::Rng rng,
           const base::Logger& log, std::function<void(NodeTraffic)> changed);
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

  void start();
  // Reports nothing from now on.
  void stop();
  // The pods have been listed once. Safe from any thread.
  [[nodiscard]] bool synced() const { return synced_; }
  // When the API server last sent anything; nullopt before the first list.
  [[nodiscard]] std::optional<base::Instant> lastHeard() const;

 private:
  void awaitSync();
  void gather();
  void report();

  base::Executor& executor_;
  base::Logger log_;
  std::function<void(NodeTraffic)> changed_;
  kube::ObjectCache<model::TrafficPod> pods_;
  kube::Reflector reflector_;
  std::atomic<bool> synced_ = false;
  bool gathering_ = false;
  bool stopped_ = false;
};

}  // namespace trainyard::agent
