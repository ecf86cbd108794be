#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/loop.h"

namespace trainyard::launch {

// A message between members: its kind and its fields.
struct Message {
  std::string kind;
  std::vector<std::string> fields = {};
  friend bool operator==(const Message&, const Message&) = default;
};

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
// encrypted: a program that can read the pods' network can read commands and output. (Lost: TLS with
// certificates for each pod; and the token by itself, which a single listener could steal.)
class Channel {
 public:
  static constexpr std::size_t kMaxBody = 1 << 20;
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
  [[nodiscard]] bool isOpen() const { return fd_ >= 0 && keyed_; }

 private:
  void ready(short events);
  void read();
  void flush();
  void watch();
  bool handshake();
  bool takeMessage();
  std::string proof(std::string_view what) const;
  std::string macOf(std::string_view key, std::uint64_t number, std::string_view body) const;

  Loop& loop_;
  int fd_;
  bool server_;
  std::string token_;
  Events events_;
  std::string in_;
  std::string out_;
  std::string nonce_;
  std::string nonces_;  // the server's, then the client's
  bool answered_ = false;
  bool keyed_ = false;
  std::string sendKey_;
  std::string takeKey_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Returns -1 on failure, with the reason in errno.
[[nodiscard]] int listenOn(int port);
// Starts to connect; the channel reports the outcome. -1 if the name does not resolve or the attempt fails.
[[nodiscard]] int connectTo(const std::string& host, int port);
// Returns the token without trailing white space; empty if the file cannot be read.
[[nodiscard]] std::string readToken(const std::string& path);

}  // namespace trainyard::launch
