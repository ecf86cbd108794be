#pragma once

#include <chrono>

#include "base/executor.h"
#include "sim/api/server.h"

namespace trainyard::sim {

// What kube-controller-manager does for the objects we depend on: deletes whose owners are gone (background,
// foreground and orphan propagation), empties namespaces that terminate, gives new ones a default
// ServiceAccount. Runs on the executor a little after each change that concerns it, never inside a request: a
// client sees the in-between states that a real cluster shows.
class GarbageCollector {
 public:
  GarbageCollector(ApiServer& server, base::Executor& executor,
                   std::chrono::milliseconds delay = std::chrono::milliseconds(50));
  ~GarbageCollector();
  GarbageCollector(const GarbageCollector&) = delete;
  GarbageCollector& operator=(const GarbageCollector&) = delete;

  // One round over everything; true when it changed something. For callers without an executor of their own.
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
