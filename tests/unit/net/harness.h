#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "net/client.h"
#include "net/server.h"
#include "tests/unit/net/client_under_test.h"

namespace trainyard::net::test {

// Much longer than any step takes on a healthy machine: only a hang reaches it.
inline constexpr std::chrono::seconds kPatience{20};

template <typename T>
T await(std::future<T> future) {
  if (future.wait_for(kPatience) != std::future_status::ready)
    throw std::runtime_error("nothing came in time");
  return future.get();
}

// An event loop on its own thread.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  [[nodiscard]] base::EventLoop& loop() { return loop_; }

  // Runs `task` on the loop and waits for it.
  void run(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  base::EventLoop loop_;
  std::thread thread_;
};

// A client with its loop, destroyed on the loop as the contract requires.
class TestClient {
 public:
  explicit TestClient(ClientOptions options) {
    auto made = makeClientUnderTest(std::move(options), loop_.loop());
    if (!made) throw std::runtime_error(made.error().message);
    client_ = std::move(*made);
  }
  ~TestClient() { destroy(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  void destroy() {
    loop_.run([this] { client_.reset(); });
  }

  [[nodiscard]] std::future<base::Result<HttpResponse>> send(HttpRequest request) {
    auto promise = std::make_shared<std::promise<base::Result<HttpResponse>>>();
    auto future = promise->get_future();
    client_->send(std::move(request),
                  [promise](base::Result<HttpResponse> result) { promise->set_value(std::move(result)); });
    return future;
  }
  [[nodiscard]] base::Result<HttpResponse> get(std::string target) {
    return await(send({.target = std::move(target)}));
  }

  [[nodiscard]] ReloadableHttpClient& client() { return *client_; }
  [[nodiscard]] LoopThread& loop() { return loop_; }

 private:
  LoopThread loop_;
  std::unique_ptr<ReloadableHttpClient> client_;
};

// The events that a stream has delivered so far; a test waits for events, never for time.
class StreamLog {
 public:
  [[nodiscard]] StreamCallbacks callbacks() {
    return {.onLine = [this](std::string line) { add([&] { lines_.push_back(std::move(line)); }); },
            .onEnd =
                [this](base::Result<HttpResponse> end) {
                  add([&] {
                    end_ = std::move(end);
                    ++ends_;
                  });
                }};
  }
  [[nodiscard]] std::vector<std::string> awaitLines(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return lines_.size() >= count; })) {
      throw std::runtime_error("lines did not come in time");
    }
    return lines_;
  }
  [[nodiscard]] base::Result<HttpResponse> awaitEnd() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return end_.has_value(); })) {
      throw std::runtime_error("the stream did not end in time");
    }
    return *end_;
  }
  [[nodiscard]] std::size_t lineCount() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }
  [[nodiscard]] int ends() const {
    const std::lock_guard lock(mutex_);
    return ends_;
  }

 private:
  template <typename Change>
  void add(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::optional<base::Result<HttpResponse>> end_;
  int ends_ = 0;
};

[[nodiscard]] inline std::unique_ptr<HttpServer> startServer(ServerHandler handler,
                                                             ServerOptions options = {}) {
  auto started = startHttpServer(std::move(options), std::move(handler));
  if (!started) throw std::runtime_error(started.error().message);
  return std::move(*started);
}

[[nodiscard]] inline std::string urlOf(const HttpServer& server, const char* scheme = "http") {
  return std::string(scheme) + "://127.0.0.1:" + std::to_string(server.port());
}

}  // namespace trainyard::net::test
