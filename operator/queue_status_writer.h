#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "core/schedule/schedule.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "model/queue.h"
#include "operator/operator_metrics.h"

namespace trainyard::operator_ {

// Writes what cycles find out about queues into their status. Dozens of cycles may run in a second, so the
// newest status waits for its queue's turn and replaces one that still waits. Unchanged values are not
// written. Decayed usage alone, which moves with the clock, is written once a minute.
//
// Writes are guarded by resourceVersion. After a conflict the queue is read again, and the same status is
// written at once if it still matches the queue's spec. Otherwise the next cycle provides the next status.
// Lives on the executor's loop.
class QueueStatusWriter {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    OperatorMetrics& metrics;
    base::Logger log;
    // A write ended that the last cycle could not see, so that its findings may be outdated.
    std::function<void()> overtaken;
    // Called after a write that changed the reason of Ready.
    std::function<void(const model::Queue&, const model::Condition&)> changed = nullptr;
  };

  explicit QueueStatusWriter(Dependencies dependencies);
  ~QueueStatusWriter();
  QueueStatusWriter(const QueueStatusWriter&) = delete;
  QueueStatusWriter& operator=(const QueueStatusWriter&) = delete;

  // Takes one cycle's findings: every queue with a status that needs a change. Findings of earlier cycles
  // that `updates` does not repeat are dropped.
  void take(const std::vector<core::QueueStatusUpdate>& updates);

 private:
  struct Update {
    model::Uid uid;
    std::int64_t generation = 0;
    model::QueueStatus status;
  };
  struct State {
    std::optional<Update> waiting = std::nullopt;
    bool writing = false;
    bool overtaken = false;  // a cycle ran during the write
    int conflicts = 0;
    std::string writtenFrom = {};  // resourceVersion
    std::string readyReason = {};  // before the write under way
    int failures = 0;
    base::Instant notBefore = base::Instant::min();
    base::Instant lastWrite = base::Instant::min();
  };
  using Answer = base::Result<kube::ApiResponse>;

  void writeDue();
  // If it is too early to write, returns when to write.
  std::optional<base::Instant> writeUnlessEarly(const model::QueueName& name, State& state);
  void armTimer(std::optional<base::Instant> due);
  [[nodiscard]] base::Instant dueAt(const State& state, const model::Queue& queue) const;
  void write(const model::QueueName& name, const Update& update, const model::Queue& queue);
  void written(const model::QueueName& name, const Update& update, const Answer& answer);
  void reportChange(const model::QueueName& name, const Update& update);
  void readAgain(const model::QueueName& name, const Update& update, bool mayRepeat);
  void done(const model::QueueName& name);
  void failed(const model::QueueName& name, const Update& update);
  void turnOver(State& state);
  [[nodiscard]] kube::ApiCallback guarded(std::function<void(const Answer&)> callback) const;

  Dependencies deps_;
  std::map<model::QueueName, State> states_;
  std::size_t busy_ = 0;
  base::TimerId timer_{};
  std::optional<base::Instant> timerDue_ = std::nullopt;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
