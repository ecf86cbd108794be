#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "net/http.h"

namespace trainyard::net {

// Passes the lines of one stream from the reading threads to the loop that handles them, in order and with a
// limit on queued lines.
class StreamDelivery : public std::enable_shared_from_this<StreamDelivery> {
 public:
  StreamDelivery(base::Executor& executor, StreamCallbacks callbacks, std::size_t maxWaitingBytes);

  // Thread-safe. True: read on. False: too many lines are queued, and `resume` is called once when there is
  // capacity again or the stream is cancelled. Lines of an ended stream are dropped.
  [[nodiscard]] bool push(std::vector<std::string> lines, std::function<void()> resume);

  // Thread-safe. The first call sets what onEnd gets after the last line; returns true for that call.
  bool finish(base::Result<HttpResponse> end);

  [[nodiscard]] bool over() const;

  // Called on the loop's thread, possibly within a callback. No callback runs afterwards, and the executor is
  // no longer used.
  void cancel();

 private:
  void scheduleLocked();
  void deliver();
  [[nodiscard]] std::function<void()> takeResumeLocked();

  base::Executor& executor_;
  StreamCallbacks callbacks_;  // used on the loop's thread only
  bool delivering_ = false;    // used on the loop's thread only
  const std::size_t maxWaitingBytes_;

  mutable std::mutex mutex_;
  std::deque<std::string> waiting_;
  std::size_t waitingBytes_ = 0;
  std::function<void()> resume_;
  std::optional<base::Result<HttpResponse>> end_;
  bool finished_ = false;
  bool scheduled_ = false;
  bool cancelled_ = false;
};

}  // namespace trainyard::net
