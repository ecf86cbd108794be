#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/rng.h"
#include "base/virtual_loop.h"
#include "net/http.h"

namespace trainyard::kube::testing {

using namespace std::chrono_literals;

using Answer = base::Result<net::HttpResponse>;

inline Answer answer(int status, std::string body = "{}", net::Headers headers = {}) {
  return net::HttpResponse{status, std::move(headers), std::move(body)};
}
inline Answer broken(base::ErrorCode code) { return base::fail(code, "connection broke"); }

inline std::string statusBody(int code, const std::string& reason, const std::string& message = "no") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","message":")" + message + R"("})";
}
inline Answer refusal(int code, const std::string& reason, net::Headers headers = {}) {
  return answer(code, statusBody(code, reason), std::move(headers));
}

struct FakeStream {
  net::HttpRequest request;
  base::Instant openedAt;
  net::StreamCallbacks callbacks;
  bool open = true;

  void line(std::string text) {
    if (open) callbacks.onLine(std::move(text));
  }
  void end(Answer result) {
    if (!open) return;
    open = false;
    callbacks.onEnd(std::move(result));
  }
};

// A scripted transport: each request takes the next answer, after a millisecond of virtual time.
class FakeHttp final : public net::HttpClient {
 public:
  explicit FakeHttp(base::VirtualLoop& loop) : loop_(loop) {}

  struct Sent {
    net::HttpRequest request;
    base::Instant at;
  };

  std::vector<Sent> sent;
  std::vector<std::shared_ptr<FakeStream>> streams;
  std::deque<Answer> script;
  // Called when the script is empty; nullopt: the request stays unanswered.
  std::function<std::optional<Answer>(const net::HttpRequest&)> otherwise;
  base::Instant::duration latency = 1ms;

  void send(net::HttpRequest request, std::function<void(Answer)> done) override {
    sent.push_back({request, loop_.now()});
    std::optional<Answer> next;
    if (!script.empty()) {
      next = std::move(script.front());
      script.pop_front();
    } else if (otherwise) {
      next = otherwise(request);
    }
    if (!next) {
      unanswered.push_back(std::move(done));
      return;
    }
    loop_.postAfter(latency, [done = std::move(done), result = std::move(*next)] { done(result); });
  }

  std::unique_ptr<net::StreamHandle> stream(net::HttpRequest request,
                                            net::StreamCallbacks callbacks) override {
    auto state =
        std::make_shared<FakeStream>(FakeStream{std::move(request), loop_.now(), std::move(callbacks)});
    streams.push_back(state);
    return std::make_unique<Handle>(state);
  }

  FakeStream& lastStream() { return *streams.back(); }
  std::vector<std::function<void(Answer)>> unanswered;

 private:
  struct Handle final : net::StreamHandle {
    explicit Handle(std::shared_ptr<FakeStream> s) : state(std::move(s)) {}
    ~Handle() override { state->open = false; }
    std::shared_ptr<FakeStream> state;
  };

  base::VirtualLoop& loop_;
};

class LogLines final : public base::LogSink {
 public:
  void write(std::string_view line) override { lines.emplace_back(line); }
  [[nodiscard]] std::size_t count(std::string_view part) const {
    std::size_t found = 0;
    for (const auto& line : lines) found += line.find(part) != std::string::npos ? 1 : 0;
    return found;
  }
  std::vector<std::string> lines;
};

}  // namespace trainyard::kube::testing
