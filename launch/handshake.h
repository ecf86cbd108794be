#pragma once

#include <string>
#include <string_view>

#include "launch/message_stream.h"

namespace trainyard::launch {

// The beginning of a connection, by the protocol in channel.h: both sides prove that they hold the token.
class Handshake {
 public:
  Handshake(bool server, std::string token);

  // Returns false if no random bytes were available: the connection cannot begin.
  [[nodiscard]] bool canBegin() const { return !nonce_.empty(); }
  // What this side sends before it receives anything.
  [[nodiscard]] std::string greeting() const;

  enum class Progress { kNeedsMore, kAnswered, kDone, kRefused };
  // Performs one step: takes bytes from the front of `in`, and appends the answer to `out`.
  [[nodiscard]] Progress step(std::string& in, std::string& out);
  // Call after kDone.
  [[nodiscard]] ChannelKeys keys() const;

 private:
  [[nodiscard]] std::string proof(std::string_view what) const;

  bool server_;
  std::string token_;
  std::string nonce_;
  std::string nonces_;  // the server's, then the client's
  bool answered_ = false;
};

}  // namespace trainyard::launch
