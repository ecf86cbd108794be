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

// Carries the lines of one stream from the threads that read to the loop that handles them, in order and with
// a bound on what waits in between.
class StreamDelivery : public std::enable_shared_from_this<StreamDelivery> {
 public:
  StreamDelivery(base::Executor& executor, StreamCallbacks callbacks, std::size_t maxWaitingBytes);

  // Any thread. True: read on. False: too much is waiting, and `resume` is called once when there is room
  // again or the stream is cancelled. Lines of a stream that is over are dropped.
  [[nodiscard]] bool push(std::vector<std::string> lines, std::function<void()> resume);

  // Any thread. The first call decides what onEnd gets after the last line; returns whether it was this one.
  bool finish(base::Result<HttpResponse> end);

  [[nodiscard]] bool over() const;

  // The loop's thread, also from within a callback. No callback runs after it; the executor is not used any
  // more.
  void cancel();

 private:
  void scheduleLocked();
  void deliver();
  [[nodiscard]] std::function<void()> takeResumeLocked();

  base::Executor& executor_;
  StreamCallbacks callbacks_;  // the loop's thread only
  bool delivering_ = false;    // the loop's thread only
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
