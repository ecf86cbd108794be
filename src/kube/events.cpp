#include "kube/events.h"

#include <deque>
#include <map>

#include <fmt/format.h>

#include "base/cut_text.h"
#include "kube/paths.h"
#include "model/limits.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr std::chrono::minutes kRefresh{30};
constexpr std::chrono::minutes kIdle{6};
constexpr std::chrono::minutes kSweep{1};
constexpr std::chrono::seconds kRetry{10};
constexpr int kMaxTries = 12;
constexpr std::size_t kMaxSeries = 20'000;
constexpr std::size_t kMaxUnderWay = 4;
constexpr std::size_t kMaxNamePrefix = 230;  // of 253; the rest is for the suffix

// The counts of one namespace.
struct Held {
  std::size_t series = 0;
  std::size_t pending = 0;
};

// The occurrences of one event and their object at the server.
struct Series {
  codec::Event event;
  bool created = false;
  bool pending = false;      // queued, in flight or waiting for a retry
  bool finishing = false;    // silent for long: dropped after the last write
  std::int64_t written = 0;  // the count at the server
  std::int64_t writing = 0;  // the count in the write in flight
  int tries = 0;
  base::Instant lastSeen{};
  base::Instant lastWritten{};
};

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
      : options_(std::move(options)), api_(api), executor_(executor), log_(std::move(log)) {}

  void record(const ObjectRef& regarding, EventType type, std::string_view reason, std::string_view action,
              std::string_view note) {
    note = base::cutText(note, model::limits::kMaxEventNote);
    const std::string_view typeName = type == EventType::kWarning ? "Warning" : "Normal";
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", regarding.ns, regarding.name, regarding.uid,
                    regarding.kind, regarding.apiVersion, typeName, reason, action, note);
    auto at = series_.find(key);
    if (at == series_.end()) {
      if (!mayAddSeries(regarding.ns)) {
        drop(1);
        return;
      }
      at = series_.emplace(key, Series{.event = newEvent(regarding, typeName, reason, action, note)}).first;
      ++held_[regarding.ns].series;
    } else {
      ++at->second.event.count;
    }
    Series& series = at->second;
    series.finishing = false;
    series.lastSeen = executor_.now();
    series.event.lastObserved = executor_.wallNow();
    enqueueIfDue(key, series);
    armSweep();
  }

  void stop() { executor_.cancel(sweepTimer_); }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  // A namespace may use at most half of the capacity that others leave free, so that a new one has some.
  [[nodiscard]] bool mayAddSeries(const std::string& ns) const {
    const auto found = held_.find(ns);
    const Held held = found == held_.end() ? Held() : found->second;
    return pending_ + held.pending < options_.maxPending && series_.size() + held.series < kMaxSeries;
  }

  void notePending(const Series& series, bool isPending) {
    Held& held = held_[series.event.regarding.ns];
    for (std::size_t* count : {&pending_, &held.pending}) *count = isPending ? *count + 1 : *count - 1;
  }

  std::map<std::string, Series>::iterator forget(std::map<std::string, Series>::iterator at) {
    const auto held = held_.find(at->second.event.regarding.ns);
    if (--held->second.series == 0) held_.erase(held);
    return series_.erase(at);
  }

  [[nodiscard]] codec::Event newEvent(const ObjectRef& regarding, std::string_view type,
                                      std::string_view reason, std::string_view action,
                                      std::string_view note) {
    return {.ns = regarding.ns.empty() ? "default" : regarding.ns,
            .name = freshName(regarding.name),
            .time = executor_.wallNow(),
            .type = std::string(type),
            .reason = std::string(reason),
            .action = std::string(action),
            .note = std::string(note),
            .reportingController = options_.controller,
            .reportingInstance = options_.instance,
            .regarding = regarding};
  }

  // "OBJECT.NANOSECONDS": the clock has microseconds; the last three digits distinguish names within one.
  [[nodiscard]] std::string freshName(const std::string& object) {
    const auto micros = executor_.wallNow().time_since_epoch().count();
    sequence_ = (sequence_ + 1) % 1000;
    std::string prefix = object.substr(0, kMaxNamePrefix);
    while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
    return fmt::format("{}.{:x}", prefix, micros * 1000 + sequence_);
  }

  [[nodiscard]] bool isDue(const Series& series) const {
    if (!series.created || series.written == 1) return series.event.count > series.written;
    const bool refresh = executor_.now() - series.lastWritten >= kRefresh;
    return series.event.count > series.written && (refresh || series.finishing);
  }

  void enqueueIfDue(const std::string& key, Series& series) {
    if (series.pending || !isDue(series)) return;
    series.pending = true;
    series.tries = 0;
    notePending(series, true);
    queue_.push_back(key);
    pump();
  }

  void pump() {
    while (underWay_ < kMaxUnderWay && !queue_.empty()) {
      const std::string key = std::move(queue_.front());
      queue_.pop_front();
      ++underWay_;
      write(key, series_.at(key));
    }
  }

  void write(const std::string& key, Series& series) {
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
    Series& series = at->second;
    // "AlreadyExists": an earlier attempt was written after all, because only this program creates the name.
    if (answer || (!series.created && answer.error().code == ErrorCode::kAlreadyExists)) {
      succeeded(at);
    } else if (series.created && answer.error().code == ErrorCode::kNotFound) {
      // The server keeps events for an hour. A new object continues the series with its count.
      series.created = false;
      series.event.name = freshName(series.event.regarding.name);
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
      notePending(series, false);
      forget(at);
    }
    pump();
  }

  void succeeded(std::map<std::string, Series>::iterator at) {
    Series& series = at->second;
    notePending(series, false);
    series.pending = false;
    series.created = true;
    series.written = series.writing;
    series.lastWritten = executor_.now();
    if (series.finishing && series.written == series.event.count) {
      forget(at);
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
      Series& series = at->second;
      const bool idle = executor_.now() - series.lastSeen >= kIdle;
      if (idle && !series.pending && series.event.count == series.written) {
        at = forget(at);
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
  std::map<std::string, Series> series_;
  std::map<std::string, Held> held_;  // by namespace, if it has series
  std::deque<std::string> queue_;     // keys of series to write
  std::size_t pending_ = 0;
  std::size_t underWay_ = 0;
  std::size_t dropped_ = 0;
  int sequence_ = 0;
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
