#pragma once

#include <thread>

#include "base/event_loop.h"
#include "operator/evidence_collector.h"

namespace trainyard::operator_ {

// Runs long tasks one after the other, at low priority. The destructor waits for the running task and drops
// waiting ones. Must be created after base::onStopSignal(), as any thread.
class WorkerThread {
 public:
  // Posts answers to `loop`.
  explicit WorkerThread(base::Executor& loop);
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  [[nodiscard]] Offload offload();

 private:
  base::Executor& answers_;
  base::EventLoop work_;
  std::thread thread_;
};

}  // namespace trainyard::operator_
