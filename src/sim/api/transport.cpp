#include "sim/api/transport.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/api/paths.h"
#include "sim/api/status.h"

namespace trainyard::sim {
namespace {

using Done = std::function<void(base::Result<net::HttpResponse>)>;

std::string_view nameOf(RequestFault::Kind kind) {
  switch (kind) {
    case RequestFault::Kind::kLoseRequest: return "lose-request";
    case RequestFault::Kind::kLoseReply: return "lose-reply";
    case RequestFault::Kind::kAnswer: return "answer";
    case RequestFault::Kind::kNone: break;
  }
  return "none";
}

}  // namespace

struct ApiServerTransport::Shared {
  ApiServer& server;
  base::Executor& executor;
  TransportOptions options;

  [[nodiscard]] FaultPoint point(const net::HttpRequest& request) const {
    return {options.client, options.stepName(request), &request};
  }
  void deliver(base::Task task) const {
    if (options.deliver) return options.deliver(std::move(task));
    task();
  }
  void count(const FaultPoint& point, std::string_view fault) const {
    if (options.counts != nullptr) options.counts->add(point.step, std::string(fault));
  }
  [[nodiscard]] RequestFault faultOf(const FaultPoint& point) const {
    if (options.faults == nullptr) return {};
    RequestFault fault = options.faults->beforeRequest(point);
    if (fault.kind == RequestFault::Kind::kAnswer) {
      count(point, fmt::format("answer-{}", fault.answer.status));
    } else if (fault.kind != RequestFault::Kind::kNone) {
      count(point, nameOf(fault.kind));
    }
    if (fault.delayBefore.count() + fault.delayAfter.count() > 0) count(point, "delay");
    return fault;
  }
};

namespace {

using Shared = ApiServerTransport::Shared;

// One watch. Lines arrive in order: a delayed line delays those after it.
class SimStream final : public net::StreamHandle, public std::enable_shared_from_this<SimStream> {
 public:
  SimStream(std::shared_ptr<Shared> shared, net::HttpRequest request, net::StreamCallbacks callbacks)
      : shared_(std::move(shared)), request_(std::move(request)), callbacks_(std::move(callbacks)) {}

  ~SimStream() override = default;

  void start() {
    const FaultPoint point = shared_->point(request_);
    RequestFault fault = shared_->faultOf(point);
    const auto there = shared_->options.latency + fault.delayBefore;
    shared_->executor.postAfter(there, [self = weak_from_this(), fault = std::move(fault)] {
      if (const auto stream = self.lock()) stream->arrive(fault);
    });
  }

  // The client has closed the watch.
  void cancel() {
    over_ = true;
    closeWatch();
  }

 private:
  void arrive(const RequestFault& fault) {
    if (over_) return;
    if (fault.kind == RequestFault::Kind::kLoseRequest) {
      return finish(base::fail(base::ErrorCode::kUnavailable, "simulated: request lost"));
    }
    if (fault.kind == RequestFault::Kind::kLoseReply) {
      return finish(base::fail(base::ErrorCode::kOutcomeUnknown, "simulated: connection reset"));
    }
    if (fault.kind == RequestFault::Kind::kAnswer) return finish(fault.answer);
    WatchSink sink;
    sink.onLine = [self = weak_from_this()](std::string line) {
      if (const auto stream = self.lock()) stream->deliver(std::move(line));
    };
    sink.onClosed = [self = weak_from_this()] {
      if (const auto stream = self.lock()) stream->finish(net::HttpResponse{200, {}, {}});
    };
    const auto ticket = shared_->server.openWatch(request_, std::move(sink));
    if (!ticket) return finish(ticket.error());
    watch_ = ticket->id;
    if (ticket->timeout) {
      shared_->executor.postAfter(*ticket->timeout, [self = weak_from_this()] {
        if (const auto stream = self.lock()) stream->timeOut();
      });
    }
    scheduleBookmark();
  }

  void scheduleBookmark() {
    shared_->executor.postAfter(shared_->options.bookmarkEvery, [self = weak_from_this()] {
      const auto stream = self.lock();
      if (stream == nullptr || stream->over_ || stream->ending_) return;
      stream->shared_->server.sendBookmark(stream->watch_);
      stream->scheduleBookmark();
    });
  }

  void timeOut() {
    if (over_ || ending_) return;
    shared_->server.sendBookmark(watch_);
    closeWatch();
    finish(net::HttpResponse{200, {}, {}});
  }

  void deliver(std::string line) {
    if (over_ || ending_) return;
    const FaultPoint point = shared_->point(request_);
    const StreamFault fault =
        shared_->options.faults != nullptr ? shared_->options.faults->beforeLine(point, line) : StreamFault{};
    if (fault.reset) {
      shared_->count(point, "reset-stream");
      closeWatch();
      return finish(base::fail(base::ErrorCode::kOutcomeUnknown, "simulated: stream reset"));
    }
    if (fault.delay.count() > 0) shared_->count(point, "delay-line");
    shared_->executor.postAt(nextSlot(fault.delay),
                             [self = weak_from_this(), line = std::move(line)]() mutable {
                               if (const auto stream = self.lock()) stream->hand(std::move(line));
                             });
  }

  void hand(std::string line) {
    shared_->deliver([self = weak_from_this(), line = std::move(line)]() mutable {
      const auto stream = self.lock();
      if (stream != nullptr && !stream->over_) stream->callbacks_.onLine(std::move(line));
    });
  }

  base::Instant nextSlot(std::chrono::microseconds extra) {
    const base::Instant due = shared_->executor.now() + shared_->options.watchLag + extra;
    last_ = std::max(last_, due);
    return last_;
  }

  void finish(base::Result<net::HttpResponse> result) {
    if (over_ || ending_) return;
    ending_ = true;
    shared_->executor.postAt(nextSlot({}), [self = weak_from_this(), result = std::move(result)] {
      if (const auto stream = self.lock()) stream->handEnd(result);
    });
  }

  void handEnd(const base::Result<net::HttpResponse>& result) {
    shared_->deliver([self = weak_from_this(), result] {
      const auto stream = self.lock();
      if (stream == nullptr || stream->over_) return;
      stream->over_ = true;
      stream->callbacks_.onEnd(result);
    });
  }

  void closeWatch() {
    if (watch_ != 0) shared_->server.closeWatch(watch_);
    watch_ = 0;
  }

  std::shared_ptr<Shared> shared_;
  net::HttpRequest request_;
  net::StreamCallbacks callbacks_;
  std::uint64_t watch_ = 0;
  base::Instant last_{};
  bool ending_ = false;  // the end is being delivered to the client
  bool over_ = false;    // the client gets no more lines
};

// The client's handle.
class Handle final : public net::StreamHandle {
 public:
  explicit Handle(std::shared_ptr<SimStream> stream) : stream_(std::move(stream)) {}
  ~Handle() override { stream_->cancel(); }

 private:
  std::shared_ptr<SimStream> stream_;
};

// The answer that a client waits for: the server's answer or its timeout, whichever comes first.
class Pending final : public std::enable_shared_from_this<Pending> {
 public:
  Pending(const std::shared_ptr<Shared>& shared, Done done) : shared_(shared), done_(std::move(done)) {}

  void giveUpAfter(std::chrono::milliseconds timeout) {
    if (timeout.count() <= 0) return;
    const auto shared = shared_.lock();
    timer_ = shared->executor.postAfter(timeout, [self = shared_from_this()] {
      self->settle(base::fail(base::ErrorCode::kOutcomeUnknown, "simulated: no answer in time"));
    });
  }

  void settle(base::Result<net::HttpResponse> result) {
    const auto shared = shared_.lock();
    if (shared == nullptr || done_ == nullptr) return;
    shared->executor.cancel(timer_);
    shared->deliver([shared = shared_, result = std::move(result), done = std::exchange(done_, nullptr)] {
      if (!shared.expired()) done(result);
    });
  }

 private:
  // Weak: the end of the client ends its wait.
  std::weak_ptr<Shared> shared_;
  Done done_;
  base::TimerId timer_;
};

using PendingPtr = std::shared_ptr<Pending>;

void reply(const std::shared_ptr<Shared>& shared, base::Result<net::HttpResponse> result,
           std::chrono::microseconds delay, const PendingPtr& pending) {
  shared->executor.postAfter(
      shared->options.latency + delay,
      [pending, result = std::move(result)]() mutable { pending->settle(std::move(result)); });
}

void carryOut(const std::shared_ptr<Shared>& shared, const net::HttpRequest& request, const FaultPoint& point,
              const RequestFault& fault, const PendingPtr& pending) {
  if (fault.kind == RequestFault::Kind::kLoseRequest) {
    return reply(shared, base::fail(base::ErrorCode::kUnavailable, "simulated: request lost"),
                 fault.delayAfter, pending);
  }
  if (fault.kind == RequestFault::Kind::kAnswer)
    return reply(shared, fault.answer, fault.delayAfter, pending);
  net::HttpResponse response = shared->server.handle(request);
  bool lost = fault.kind == RequestFault::Kind::kLoseReply;
  if (!lost && shared->options.faults != nullptr && shared->options.faults->loseReply(point, response)) {
    shared->count(point, "lose-reply");
    lost = true;
  }
  if (lost) {
    return reply(shared, base::fail(base::ErrorCode::kOutcomeUnknown, "simulated: reply lost"),
                 fault.delayAfter, pending);
  }
  reply(shared, std::move(response), fault.delayAfter, pending);
}

}  // namespace

net::HttpResponse refusal(int status, std::chrono::seconds retryAfter) {
  Failure failure{status, "InternalError", "simulated", Json::object()};
  if (status == 409) failure.reason = "Conflict";
  if (status == 410) failure.reason = "Expired";
  if (status == 429) failure.reason = "TooManyRequests";
  net::HttpResponse response{status, {{"Content-Type", "application/json"}}, {}};
  if (status == 429) {
    failure.details["retryAfterSeconds"] = retryAfter.count();
    response.headers.emplace_back("Retry-After", std::to_string(retryAfter.count()));
  }
  response.body = dumpJson(statusObject(failure));
  return response;
}

std::uint64_t FaultCounts::count(const std::string& step, const std::string& fault) const {
  const auto found = counts_.find(step);
  if (found == counts_.end()) return 0;
  const auto times = found->second.find(fault);
  return times == found->second.end() ? 0 : times->second;
}

std::string defaultStepName(const net::HttpRequest& request) {
  const auto path = parseTarget(request.target);
  if (!path || !path->resource) return fmt::format("{} {}", net::toString(request.method), request.target);
  const bool watch = queryFlag(path->query, "watch");
  const bool list = !watch && request.method == net::Method::kGet && path->name.empty();
  const std::string_view verb = watch ? "WATCH" : list ? "LIST" : net::toString(request.method);
  return fmt::format("{} {}{}{}", verb, path->plural, path->subresource.empty() ? "" : "/",
                     path->subresource);
}

ApiServerTransport::ApiServerTransport(ApiServer& server, base::Executor& executor, TransportOptions options)
    : shared_(std::make_shared<Shared>(Shared{server, executor, std::move(options)})) {}

ApiServerTransport::~ApiServerTransport() = default;

void ApiServerTransport::send(net::HttpRequest request, Done done) {
  const FaultPoint point = shared_->point(request);
  RequestFault fault = shared_->faultOf(point);
  const auto there = shared_->options.latency + fault.delayBefore;
  // A request in flight arrives even if its sender is killed in the meantime, which is the difficult case of
  // crashes.
  const auto pending = std::make_shared<Pending>(shared_, std::move(done));
  pending->giveUpAfter(request.timeout);
  shared_->executor.postAfter(there, [shared = shared_, request = std::move(request), step = point.step,
                                      fault = std::move(fault), pending]() mutable {
    carryOut(shared, request, {shared->options.client, step, &request}, fault, pending);
  });
}

std::unique_ptr<net::StreamHandle> ApiServerTransport::stream(net::HttpRequest request,
                                                              net::StreamCallbacks callbacks) {
  auto stream = std::make_shared<SimStream>(shared_, std::move(request), std::move(callbacks));
  stream->start();
  return std::make_unique<Handle>(std::move(stream));
}

}  // namespace trainyard::sim
