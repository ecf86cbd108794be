#include "kube/http_api_client.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "codec/status.h"
#include "kube/backoff.h"
#include "kube/percent_encoding.h"
#include "kube/request_verb.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxWarningsKept = 256;

struct Call {
  ApiRequest request;
  ApiCallback done;
  Backoff backoff;
  std::string authorization = {};
  int attempts = 0;
  int throttled = 0;
  bool reloaded = false;
};

struct Watch {
  ApiRequest request;
  std::function<void(std::string)> lines;
  std::function<void(base::Result<void>)> end;
  std::string authorization = {};
  std::unique_ptr<net::StreamHandle> stream = {};
  bool cancelled = false;
};

class WatchHandle final : public net::StreamHandle {
 public:
  explicit WatchHandle(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~WatchHandle() override {
    watch_->cancelled = true;
    watch_->stream.reset();
  }

 private:
  std::shared_ptr<Watch> watch_;
};

std::string nameOf(const ApiRequest& request) {
  return fmt::format("{} {}", net::toString(request.method), request.path);
}

bool isRead(const ApiRequest& request) { return request.method == net::Method::kGet || request.review; }

// Parses seconds only: the API server never sends the date form.
std::optional<std::chrono::milliseconds> retryAfterOf(const net::Headers& headers) {
  const std::string_view text = net::findHeader(headers, "Retry-After");
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, 86'400U));
}

base::Error errorOf(const net::HttpResponse& response, const ApiRequest& request) {
  base::Error error = codec::errorFromAnswer(response.status, response.body, nameOf(request));
  if (error.code != ErrorCode::kThrottled) return error;
  if (const auto delay = retryAfterOf(response.headers)) error.retryAfter = delay;
  return error;
}

}  // namespace

class HttpApiClient::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(HttpApiClientOptions options, net::HttpClient& http, CredentialSource& credentials,
       base::Executor& executor, base::Rng rng, base::Logger log)
      : options_(std::move(options)),
        http_(http),
        credentials_(credentials),
        executor_(executor),
        rng_(rng),
        log_(std::move(log)),
        limiter_(options_.rateLimit, executor) {}

  void setGuard(std::function<bool()> mayWrite) { mayWrite_ = std::move(mayWrite); }

  void request(ApiRequest request, ApiCallback done) {
    const Backoff::Options delays{.initial = std::chrono::milliseconds(100), .cap = std::chrono::seconds(5)};
    begin(std::make_shared<Call>(Call{std::move(request), std::move(done), Backoff(delays, rng_.split())}));
  }

  std::unique_ptr<net::StreamHandle> watch(ApiRequest request, std::function<void(std::string)> lines,
                                           std::function<void(base::Result<void>)> end) {
    auto watch = std::make_shared<Watch>(Watch{std::move(request), std::move(lines), std::move(end)});
    // Posted, so that no callback runs before the caller has the handle.
    executor_.post([weak = weak_from_this(), watch] {
      if (const auto self = weak.lock(); self && !watch->cancelled) self->beginWatch(watch);
    });
    return std::make_unique<WatchHandle>(std::move(watch));
  }

 private:
  using CallPtr = std::shared_ptr<Call>;
  using WatchPtr = std::shared_ptr<Watch>;

  void begin(CallPtr call) {
    limiter_.acquire([this, call = std::move(call)] {
      credentials_.authorization([weak = weak_from_this(), call](base::Result<std::string> value) {
        const auto self = weak.lock();
        if (!self) return;
        if (!value) {
          call->done(base::fail(named(std::move(value.error()), call->request)));
          return;
        }
        call->authorization = std::move(*value);
        self->send(call);
      });
    });
  }

  void send(const CallPtr& call) {
    if (!isRead(call->request) && mayWrite_ && !mayWrite_()) {
      call->done(base::fail(ErrorCode::kCancelled, fmt::format("{}: not sent, this process may not write now",
                                                               nameOf(call->request))));
      return;
    }
    ++call->attempts;
    http_.send(
        toHttp(call->request, call->authorization, call->request.timeout),
        [weak = weak_from_this(), call, begin = executor_.now()](base::Result<net::HttpResponse> answer) {
          const auto self = weak.lock();
          if (!self) return;
          self->observe(verbOf(call->request), answer, begin);
          if (answer && self->options_.clock)
            self->options_.clock->note(net::findHeader(answer->headers, "Date"), begin);
          self->answered(call, std::move(answer));
        });
  }

  void observe(std::string_view verb, const base::Result<net::HttpResponse>& answer, base::Instant begin) {
    if (options_.observe) options_.observe(verb, answer ? answer->status : 0, executor_.now() - begin);
  }

  void answered(const CallPtr& call, base::Result<net::HttpResponse> answer) {
    if (!answer) {
      const bool sameAgain = answer.error().code == ErrorCode::kTooLarge;
      const bool harmless =
          !sameAgain && (answer.error().code == ErrorCode::kUnavailable || isRead(call->request));
      if (harmless && call->attempts < options_.maxAttempts) {
        again(call, call->backoff.next(executor_.now()));
        return;
      }
      base::Error error = named(std::move(answer.error()), call->request);
      // An unreachable server refuses every request; a server that accepts one but does not answer is rare.
      if (error.code == ErrorCode::kOutcomeUnknown)
        log_.warning("a request was not answered", {{"error", error.message}});
      call->done(base::fail(std::move(error)));
      return;
    }
    logWarnings(answer->headers);
    if (answer->status >= 200 && answer->status < 300) {
      call->done(ApiResponse{answer->status, std::move(answer->body)});
      return;
    }
    refused(call, *answer);
  }

  void refused(const CallPtr& call, const net::HttpResponse& answer) {
    base::Error error = errorOf(answer, call->request);
    const auto retryAfter = retryAfterOf(answer.headers);
    if (error.code == ErrorCode::kUnauthorized) {
      credentials_.refused(call->authorization);
      if (!call->reloaded) {
        call->reloaded = true;
        begin(call);
        return;
      }
    } else if (error.code == ErrorCode::kThrottled) {
      // Without the header, 429 is not overload but a refusal of this request, such as an eviction that
      // violates a disruption budget.
      if (retryAfter && call->throttled < options_.maxThrottled && *retryAfter <= options_.maxRetryAfter) {
        ++call->throttled;
        again(call, std::max<base::Instant::duration>(*retryAfter, call->backoff.next(executor_.now())));
        return;
      }
    } else if (answer.status >= 500 && isRead(call->request) && call->attempts < options_.maxAttempts) {
      const auto asked = std::min(retryAfter.value_or(std::chrono::milliseconds(0)), options_.maxRetryAfter);
      again(call, std::max<base::Instant::duration>(asked, call->backoff.next(executor_.now())));
      return;
    }
    call->done(base::fail(std::move(error)));
  }

  void again(const CallPtr& call, base::Instant::duration delay) {
    executor_.postAfter(delay, [weak = weak_from_this(), call] {
      if (const auto self = weak.lock()) self->begin(call);
    });
  }

  void beginWatch(const WatchPtr& watch) {
    limiter_.acquire([this, watch] {
      if (watch->cancelled) return;
      credentials_.authorization([weak = weak_from_this(), watch](base::Result<std::string> value) {
        const auto self = weak.lock();
        if (!self || watch->cancelled) return;
        if (!value) {
          watch->end(base::fail(named(std::move(value.error()), watch->request)));
          return;
        }
        watch->authorization = std::move(*value);
        self->openStream(watch);
      });
    });
  }

  void openStream(const WatchPtr& watch) {
    // The watch owns the stream, so the stream's callbacks must not own the watch.
    const std::weak_ptr<Watch> weakWatch = watch;
    net::StreamCallbacks callbacks;
    callbacks.onLine = [weakWatch](std::string line) {
      if (const auto open = weakWatch.lock(); open && !open->cancelled) open->lines(std::move(line));
    };
    callbacks.onEnd = [weak = weak_from_this(), weakWatch](base::Result<net::HttpResponse> answer) {
      const auto self = weak.lock();
      const auto open = weakWatch.lock();
      if (self && open && !open->cancelled) self->watchEnded(open, std::move(answer));
    };
    watch->stream = http_.stream(toHttp(watch->request, watch->authorization, watch->request.timeout),
                                 std::move(callbacks));
  }

  void watchEnded(const WatchPtr& watch, base::Result<net::HttpResponse> answer) {
    observe("watch", answer, executor_.now());
    if (!answer) {
      watch->end(base::fail(named(std::move(answer.error()), watch->request)));
      return;
    }
    logWarnings(answer->headers);
    if (answer->status == 200) {
      watch->end({});
      return;
    }
    base::Error error = errorOf(*answer, watch->request);
    if (error.code == ErrorCode::kUnauthorized) credentials_.refused(watch->authorization);
    watch->end(base::fail(std::move(error)));
  }

  [[nodiscard]] net::HttpRequest toHttp(const ApiRequest& request, const std::string& authorization,
                                        std::chrono::milliseconds timeout) const {
    net::HttpRequest http{.method = request.method,
                          .target = encodeTarget(options_.pathPrefix, request.path, request.query),
                          .body = request.body,
                          .timeout = timeout,
                          .maxAnswerBytes = request.maxAnswerBytes};
    http.headers = options_.headers;
    http.headers.emplace_back("Accept", "application/json");
    http.headers.emplace_back("User-Agent", options_.userAgent);
    if (!authorization.empty()) http.headers.emplace_back("Authorization", authorization);
    if (!request.body.empty()) http.headers.emplace_back("Content-Type", request.contentType);
    return http;
  }

  [[nodiscard]] static base::Error named(base::Error error, const ApiRequest& request) {
    // Some transports already include the request.
    if (!error.message.starts_with(net::toString(request.method))) {
      error.message = fmt::format("{}: {}", nameOf(request), error.message);
    }
    return error;
  }

  // Logs `Warning: 299 - "text"`: deprecations and similar, repeated for every request.
  void logWarnings(const net::Headers& headers) {
    const std::string_view text = net::findHeader(headers, "Warning");
    if (text.empty() || warnings_.size() >= kMaxWarningsKept) return;
    if (warnings_.emplace(text).second) log_.warning("the API server warns", {{"warning", text}});
  }

  HttpApiClientOptions options_;
  net::HttpClient& http_;
  CredentialSource& credentials_;
  base::Executor& executor_;
  base::Rng rng_;
  base::Logger log_;
  RateLimiter limiter_;
  std::function<bool()> mayWrite_;
  std::set<std::string, std::less<>> warnings_;
};

HttpApiClient::HttpApiClient(HttpApiClientOptions options, net::HttpClient& http,
                             CredentialSource& credentials, base::Executor& executor, base::Rng rng,
                             base::Logger log)
    : impl_(std::make_shared<Impl>(std::move(options), http, credentials, executor, rng, std::move(log))) {}

HttpApiClient::~HttpApiClient() = default;

void HttpApiClient::guardWrites(std::function<bool()> mayWrite) { impl_->setGuard(std::move(mayWrite)); }

void HttpApiClient::request(ApiRequest request, ApiCallback done) {
  impl_->request(std::move(request), std::move(done));
}

std::unique_ptr<net::StreamHandle> HttpApiClient::watch(ApiRequest request,
                                                        std::function<void(std::string line)> lines,
                                                        std::function<void(base::Result<void>)> end) {
  return impl_->watch(std::move(request), std::move(lines), std::move(end));
}

}  // namespace trainyard::kube
