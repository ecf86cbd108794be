#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "launch/handshake.h"
#include "launch/loop.h"
#include "launch/message_stream.h"

namespace trainyard::launch {

// A connection between two processes of one job, over the job's network. Both sides prove that they hold the
// job's token without sending it. Each message has a proof of its connection and its position in it:
//
//   server: "TYL1", 16 random bytes S            client: "TYL1", 16 random bytes C, HMAC(token, "client" S C)
//   server: HMAC(token, "server" S C)            both: keys HMAC(token, "from client" S C), "from server"
//  message: length of the body in 4 bytes, body, the first 16 bytes of HMAC(key of the sender, number body)
//  body: for the kind and each field, its length in 4 bytes and its bytes
//  number: 8 bytes, the count of earlier messages of the sender; all numbers are big-endian
//
// A process without the token cannot command or forge, and no message can be replayed. The content is not
// encrypted: a program that can read the pods' network can read commands and output. (Rejected: TLS with
// certificates for each pod; and the token by itself, which a single listener could steal.)
class Channel {
 public:
  // Closes the connection to a reader that is this many bytes behind.
  static constexpr std::size_t kMaxUnsent = 16 << 20;

  struct Events {
    std::function<void()> open = [] {};
    std::function<void(Message)> message = [](const Message&) {};
    std::function<void()> closed = [] {};  // once; the channel may be destroyed in it
  };

  // Takes ownership of the descriptor, connected or connecting.
  Channel(Loop& loop, int fd, bool server, std::string token);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void listen(Events events) { events_ = std::move(events); }
  void send(const Message& message);
  void close();
  [[nodiscard]] std::size_t unsent() const { return out_.size(); }
  [[nodiscard]] bool isOpen() const { return fd_ >= 0 && messages_.has_value(); }

 private:
  void ready(short events);
  void read();
  void flush();
  void watch();
  bool handshake();
  bool takeMessage();

  Loop& loop_;
  int fd_;
  Events events_;
  std::string in_;
  std::string out_;
  Handshake handshake_;
  std::optional<MessageStream> messages_;  // once the handshake is done
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Returns the token without trailing white space; empty if the file cannot be read.
[[nodiscard]] std::string readToken(const std::string& path);

}  // namespace trainyard::launch
