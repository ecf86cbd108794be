#include "net/stream_delivery.h"

#include <utility>

namespace trainyard::net {
namespace {

// Lines per task of the loop: a burst of a relist must not delay a lease renewal.
constexpr std::size_t kLinesPerTask = 64;

}  // namespace

StreamDelivery::StreamDelivery(base::Executor& executor, StreamCallbacks callbacks,
                               std::size_t maxWaitingBytes)
    : executor_(executor), callbacks_(std::move(callbacks)), maxWaitingBytes_(maxWaitingBytes) {}

bool StreamDelivery::push(std::vector<std::string> lines, std::function<void()> resume) {
  const std::lock_guard lock(mutex_);
  if (finished_ || cancelled_) return true;
  for (auto& line : lines) {
    waitingBytes_ += line.size();
    waiting_.push_back(std::move(line));
  }
  if (!waiting_.empty()) scheduleLocked();
  if (waitingBytes_ <= maxWaitingBytes_) return true;
  resume_ = std::move(resume);
  return false;
}

bool StreamDelivery::finish(base::Result<HttpResponse> end) {
  const std::lock_guard lock(mutex_);
  if (finished_ || cancelled_) return false;
  finished_ = true;
  end_ = std::move(end);
  scheduleLocked();
  return true;
}

bool StreamDelivery::over() const {
  const std::lock_guard lock(mutex_);
  return finished_ || cancelled_;
}

void StreamDelivery::cancel() {
  std::function<void()> resume;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    waiting_.clear();
    end_.reset();
    resume = std::move(resume_);
    resume_ = nullptr;
  }
  if (resume) resume();
  // During a callback, deliver() does this after the callback has returned.
  if (!delivering_) callbacks_ = {};
}

void StreamDelivery::scheduleLocked() {
  if (scheduled_) return;
  scheduled_ = true;
  executor_.post([self = shared_from_this()] { self->deliver(); });
}

std::function<void()> StreamDelivery::takeResumeLocked() {
  if (waitingBytes_ > maxWaitingBytes_ / 2) return nullptr;
  return std::exchange(resume_, nullptr);
}

void StreamDelivery::deliver() {
  delivering_ = true;
  bool over = false;
  for (std::size_t count = 0;; ++count) {
    std::string line;
    std::optional<base::Result<HttpResponse>> end;
    std::function<void()> resume;
    {
      const std::lock_guard lock(mutex_);
      over = cancelled_;
      if (over) break;
      if (count == kLinesPerTask && !waiting_.empty()) {
        executor_.post([self = shared_from_this()] { self->deliver(); });
        delivering_ = false;
        return;
      }
      if (!waiting_.empty()) {
        line = std::move(waiting_.front());
        waiting_.pop_front();
        waitingBytes_ -= line.size();
        resume = takeResumeLocked();
      } else if (end_) {
        end = std::exchange(end_, std::nullopt);
      } else {
        scheduled_ = false;
        break;
      }
    }
    if (resume) resume();
    if (end) {
      over = true;
      if (callbacks_.onEnd) callbacks_.onEnd(std::move(*end));
      break;
    }
    if (callbacks_.onLine) callbacks_.onLine(std::move(line));
  }
  delivering_ = false;
  // Moved out first: destroying their captures may destroy the handle, which calls cancel().
  StreamCallbacks dead;
  if (over) std::swap(dead, callbacks_);
}

}  // namespace trainyard::net
