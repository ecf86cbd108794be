#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/loop.h"

namespace trainyard::launch {

// One word between members: what it is, and what belongs to it.
struct Message {
  std::string kind;
  std::vector<std::string> fields = {};
  friend bool operator==(const Message&, const Message&) = default;
};

// A connection between two processes of one job, over the job's network. Both prove that they know the job's
// token without saying it, and every message carries a proof that it is of this connection, at this place:
//
//   server: "TYL1", 16 random bytes S            client: "TYL1", 16 random bytes C, HMAC(token, "client" S C)
//   server: HMAC(token, "server" S C)            both: keys HMAC(token, "from client" S C), "from server"
//   likewise message: length of the body in 4 bytes, body, the first 16 bytes of HMAC(key of the sender,
//   number, body) body: for the kind and each field its length in 4 bytes, and the bytes; all numbers
//   big-endian
//
// So nobody without the token commands or forges, and nothing can be replayed. It is not secret: who can read
// the pods' network reads commands and output. (Lost: TLS, as it wants a library ten times the size of this
// program, and certificates for each pod; and the token by itself, which one listener would be enough to
// steal.)
class Channel {
 public:
  static constexpr std::size_t kMostBody = 1 << 20;
  // Of a reader that is so far behind the connection is given up.
  static constexpr std::size_t kMostUnsent = 16 << 20;

  struct Events {
    std::function<void()> open = [] {};
    std::function<void(Message)> message = [](const Message&) {};
    std::function<void()> closed = [] {};  // once; the channel may be destroyed in it
  };

  // Takes the descriptor, connected or connecting.
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

// -1 where that fails; then errno says why.
[[nodiscard]] int listenOn(int port);
[[nodiscard]] int portOf(int listener);
// Begun, not done: the channel tells. -1 where the name does not resolve, or nothing is there.
[[nodiscard]] int connectTo(const std::string& host, int port);
// Without the white space around it; empty where it cannot be read.
[[nodiscard]] std::string readToken(const std::string& path);

}  // namespace trainyard::launch
