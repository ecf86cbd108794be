#pragma once

#include <chrono>

#include "base/executor.h"
#include "sim/api/server.h"

namespace trainyard::sim {

// The part of kube-controller-manager that Trainyard depends on. It deletes objects after their owners
// (background, foreground and orphan propagation), empties terminating namespaces, and creates a default
// ServiceAccount in new ones. It runs on the executor shortly after each relevant change, never inside a
// request, so that clients see the same intermediate states as in a real cluster.
class GarbageCollector {
 public:
  GarbageCollector(ApiServer& server, base::Executor& executor,
                   std::chrono::milliseconds delay = std::chrono::milliseconds(50));
  ~GarbageCollector();
  GarbageCollector(const GarbageCollector&) = delete;
  GarbageCollector& operator=(const GarbageCollector&) = delete;

  // One round over all objects; returns true if it changed any. For callers without an executor.
  static bool step(ApiServer& server);

 private:
  void schedule();
  void run();

  ApiServer& server_;
  base::Executor& executor_;
  std::chrono::milliseconds delay_;
  base::TimerId timer_{};
};

}  // namespace trainyard::sim
