#include "kube/events.h"

#include <deque>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "kube/event_names.h"
#include "kube/event_series.h"
#include "kube/paths.h"
#include "model/limits.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr std::chrono::minutes kSweep{1};
constexpr std::chrono::seconds kRetry{10};
constexpr int kMaxTries = 12;
constexpr std::size_t kMaxUnderWay = 4;

bool worthAnotherTry(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable:
    case ErrorCode::kOutcomeUnknown:
    case ErrorCode::kThrottled:
    case ErrorCode::kUnauthorized:
    case ErrorCode::kConflict: return true;
    default: return false;
  }
}

}  // namespace

class EventRecorder::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(EventOptions options, ApiClient& api, base::Executor& executor, base::Logger log)
      : options_(std::move(options)),
        api_(api),
        executor_(executor),
        log_(std::move(log)),
        series_(options_.maxPending) {}

  void record(const ObjectRef& regarding, EventType type, std::string_view reason, std::string_view action,
              std::string_view note) {
    note = base::cutText(note, model::limits::kMaxEventNote);
    const std::string_view typeName = type == EventType::kWarning ? "Warning" : "Normal";
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", regarding.ns, regarding.name, regarding.uid,
                    regarding.kind, regarding.apiVersion, typeName, reason, action, note);
    auto at = series_.find(key);
    if (at == series_.end()) {
      if (!series_.mayAdd(regarding.ns)) {
        drop(1);
        return;
      }
      at = series_.add(key, newEvent(regarding, typeName, reason, action, note));
    } else {
      ++at->second.event.count;
    }
    EventSeries& series = at->second;
    series.finishing = false;
    series.lastSeen = executor_.now();
    series.event.lastObserved = executor_.wallNow();
    enqueueIfDue(key, series);
    armSweep();
  }

  void stop() { executor_.cancel(sweepTimer_); }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] codec::Event newEvent(const ObjectRef& regarding, std::string_view type,
                                      std::string_view reason, std::string_view action,
                                      std::string_view note) {
    return {.ns = regarding.ns.empty() ? "default" : regarding.ns,
            .name = names_.next(regarding.name, executor_.wallNow()),
            .time = executor_.wallNow(),
            .type = std::string(type),
            .reason = std::string(reason),
            .action = std::string(action),
            .note = std::string(note),
            .reportingController = options_.controller,
            .reportingInstance = options_.instance,
            .regarding = regarding};
  }

  void enqueueIfDue(const std::string& key, EventSeries& series) {
    if (series.pending || !series.isDue(executor_.now())) return;
    series.tries = 0;
    series_.setPending(series, true);
    queue_.push_back(key);
    pump();
  }

  void pump() {
    while (underWay_ < kMaxUnderWay && !queue_.empty()) {
      const std::string key = std::move(queue_.front());
      queue_.pop_front();
      ++underWay_;
      write(key, series_.find(key)->second);
    }
  }

  void write(const std::string& key, EventSeries& series) {
    ++series.tries;
    series.writing = series.event.count;
    auto done = [weak = weak_from_this(), key](const base::Result<ApiResponse>& answer) {
      if (const auto self = weak.lock()) self->written(key, answer);
    };
    const codec::Event& event = series.event;
    if (series.created) {
      api_.patch(PatchType::kMerge, kEvents.object(event.ns, event.name),
                 codec::encodeEventSeries(event.count, event.lastObserved), std::move(done));
    } else {
      api_.create(kEvents.collection(event.ns), codec::encodeEvent(event), std::move(done));
    }
  }

  void written(const std::string& key, const base::Result<ApiResponse>& answer) {
    --underWay_;
    const auto at = series_.find(key);
    EventSeries& series = at->second;
    // "AlreadyExists": an earlier attempt was written after all, because only this program creates the name.
    if (answer || (!series.created && answer.error().code == ErrorCode::kAlreadyExists)) {
      succeeded(at);
    } else if (series.created && answer.error().code == ErrorCode::kNotFound) {
      // The server keeps events for an hour. A new object continues the series with its count.
      series.created = false;
      series.event.name = names_.next(series.event.regarding.name, executor_.wallNow());
      queue_.push_back(key);
    } else if (worthAnotherTry(answer.error().code) && series.tries < kMaxTries) {
      executor_.postAfter(kRetry, [weak = weak_from_this(), key] {
        if (const auto self = weak.lock()) {
          self->queue_.push_back(key);
          self->pump();
        }
      });
    } else {
      log_.warning("event not written", {{"reason", series.event.reason}, {"error", answer.error().message}});
      drop(static_cast<std::size_t>(series.event.count - series.written));
      series_.setPending(series, false);
      series_.erase(at);
    }
    pump();
  }

  void succeeded(EventSeriesTable::Iterator at) {
    EventSeries& series = at->second;
    series_.setPending(series, false);
    series.created = true;
    series.written = series.writing;
    series.lastWritten = executor_.now();
    if (series.finishing && series.written == series.event.count) {
      series_.erase(at);
      return;
    }
    enqueueIfDue(at->first, series);
  }

  void armSweep() {
    if (sweepArmed_) return;
    sweepArmed_ = true;
    sweepTimer_ = executor_.postAfter(kSweep, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->sweep();
    });
  }

  void sweep() {
    sweepArmed_ = false;
    for (auto at = series_.begin(); at != series_.end();) {
      EventSeries& series = at->second;
      const bool idle = series.isIdle(executor_.now());
      if (idle && !series.pending && series.event.count == series.written) {
        at = series_.erase(at);
        continue;
      }
      series.finishing = idle;
      // The write may end the series, but not within this call: answers arrive on the event loop.
      enqueueIfDue(at->first, series);
      ++at;
    }
    if (!series_.empty()) armSweep();
  }

  void drop(std::size_t count) {
    if (dropped_ == 0) log_.warning("events are being dropped");
    dropped_ += count;
  }

  const EventOptions options_;
  ApiClient& api_;
  base::Executor& executor_;
  base::Logger log_;
  EventNames names_;
  EventSeriesTable series_;
  std::deque<std::string> queue_;  // keys of series to write
  std::size_t underWay_ = 0;
  std::size_t dropped_ = 0;
  bool sweepArmed_ = false;
  base::TimerId sweepTimer_;
};

EventRecorder::EventRecorder(EventOptions options, ApiClient& api, base::Executor& executor, base::Logger log)
    : impl_(std::make_shared<Impl>(std::move(options), api, executor, std::move(log))) {}

EventRecorder::~EventRecorder() { impl_->stop(); }

void EventRecorder::record(const ObjectRef& regarding, EventType type, std::string_view reason,
                           std::string_view action, std::string_view note) {
  impl_->record(regarding, type, reason, action, note);
}

std::size_t EventRecorder::dropped() const { return impl_->dropped(); }

}  // namespace trainyard::kube
