#pragma once

#include <thread>

#include "base/event_loop.h"
#include "operator/evidence_collector.h"

namespace trainyard::operator_ {

// Does what takes long, one after the other, behind everything else that the machine has to do. What is under
// way when this goes is awaited, what waits is dropped. To be made after base::onStopSignal(), as any thread.
class WorkerThread {
 public:
  // Answers come on `loop`.
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
