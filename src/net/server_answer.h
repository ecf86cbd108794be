#pragma once

// Internal to the server.

#include <cstdint>
#include <string>

#include "net/http.h"

namespace trainyard::net {

// The answer to the current request of a connection: how much of it was given, and how it is framed.
class ServerAnswer {
 public:
  // The number of the request being answered; 0 before the first one.
  [[nodiscard]] std::uint64_t request() const { return request_; }
  void nextRequest() {
    ++request_;
    state_ = State::kNone;
  }
  void requestCame(bool keepAlive, bool mayChunk) {
    keepAlive_ = keepAlive;
    mayChunk_ = mayChunk;
  }

  [[nodiscard]] bool isMissing() const { return state_ == State::kNone; }
  [[nodiscard]] bool isStreaming() const { return state_ == State::kStreaming; }
  [[nodiscard]] bool isComplete() const { return state_ == State::kComplete; }
  // Whether the connection stays open after the answer.
  [[nodiscard]] bool keepsAlive() const { return keepAlive_; }
  void closeAfterwards() { keepAlive_ = false; }

  // Each returns the bytes to send.
  [[nodiscard]] std::string whole(const HttpResponse& response);
  [[nodiscard]] std::string streamHead(const HttpResponse& head);
  [[nodiscard]] std::string piece(const std::string& chunk) const;
  [[nodiscard]] std::string streamEnd();

 private:
  enum class State { kNone, kStreaming, kComplete };

  std::uint64_t request_ = 0;
  State state_ = State::kNone;
  bool keepAlive_ = true;
  bool mayChunk_ = true;  // HTTP/1.1
};

}  // namespace trainyard::net
