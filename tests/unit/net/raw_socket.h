#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace trainyard::net::test {

// A TCP connection whose bytes the test writes itself.
class RawConnection {
 public:
  explicit RawConnection(int descriptor) : descriptor_(descriptor) {}
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  // To a port of this machine.
  [[nodiscard]] static RawConnection connect(std::uint16_t port);
  // The same from 127.0.0.`host`: somebody else to a server.
  [[nodiscard]] static RawConnection connectFrom(std::uint8_t host, std::uint16_t port);

  // False when the other side is gone.
  bool send(std::string_view bytes);
  // Until `text` has come or the other side closed; what came so far.
  std::string readUntil(std::string_view text);
  std::string readToEnd() { return readUntil({}); }
  // A whole request with an optional body of a known length.
  std::string readRequest();
  // Hands on what comes on either side, until both have closed.
  static void relay(RawConnection& one, RawConnection& other);
  // No FIN but a reset.
  void reset();
  void closeSending();

 private:
  bool fill();
  void pumpInto(RawConnection& other);

  int descriptor_;
  std::string received_;
};

// A server that runs `script` for every connection, each on a thread of its own.
class RawServer {
 public:
  explicit RawServer(std::function<void(RawConnection&)> script);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void acceptAll();

  std::function<void(RawConnection&)> script_;
  std::uint16_t port_ = 0;  // before listener_, which sets it
  int listener_ = -1;
  std::atomic<int> connections_ = 0;
  std::vector<std::thread> workers_;  // the acceptor's only
  std::thread acceptor_;              // last, because it uses all the others
};

// A port that nobody listens on.
[[nodiscard]] std::uint16_t unusedPort();

}  // namespace trainyard::net::test
