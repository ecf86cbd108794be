#pragma once

// Internal to the server: which connection is closed when the server is full.

#include <atomic>
#include <chrono>

namespace trainyard::net {

// The order in which connections are closed for new ones; kAnswered ones never are.
enum class Standing {
  kUnauthenticated,  // before the end of its TLS handshake
  kNewcomer,         // has not sent a complete request yet, or is being closed
  kRegular,          // between two requests, or sending its next one
  kAnswered,         // a handler processes its request, or its answer is a stream
};

// The standing of one connection, and since when it waits. Thread-safe.
class ConnectionStanding {
 public:
  explicit ConnectionStanding(Standing first) : standing_(first) {}

  void become(Standing standing) {
    standing_ = standing;
    since_ = std::chrono::steady_clock::now();
  }
  // The wait counts from the accept, not from the first processing, which may be in another order.
  void becomeNewcomer() { standing_ = Standing::kNewcomer; }

  [[nodiscard]] Standing get() const { return standing_; }
  [[nodiscard]] std::chrono::steady_clock::time_point since() const { return since_; }

 private:
  std::atomic<Standing> standing_;
  std::atomic<std::chrono::steady_clock::time_point> since_ = std::chrono::steady_clock::now();
};

}  // namespace trainyard::net
