#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace trainyard::net::test {

// A TCP connection for which the test writes the bytes itself.
class RawConnection {
 public:
  explicit RawConnection(int descriptor) : descriptor_(descriptor) {}
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  // Connects to a port of this machine.
  [[nodiscard]] static RawConnection connect(std::uint16_t port);
  // Connects from 127.0.0.`host`, which is another client for a server.
  [[nodiscard]] static RawConnection connectFrom(std::uint8_t host, std::uint16_t port);

  // Returns false if the peer is gone.
  bool send(std::string_view bytes);
  // Reads until `text` has arrived or the peer has closed; returns everything read.
  std::string readUntil(std::string_view text);
  std::string readToEnd() { return readUntil({}); }
  // Reads a whole request with an optional body of a known length.
  std::string readRequest();
  // Forwards bytes in both directions until both sides have closed.
  static void relay(RawConnection& one, RawConnection& other);
  // Closes with a reset instead of a FIN.
  void reset();
  void closeSending();

 private:
  bool fill();
  void pumpInto(RawConnection& other);

  int descriptor_;
  std::string received_;
};

// A server that runs `script` for every connection, each on its own thread.
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
  std::vector<std::thread> workers_;  // used by the acceptor only
  std::thread acceptor_;              // last, because it uses all the others
};

// Returns a port without a listener.
[[nodiscard]] std::uint16_t unusedPort();

}  // namespace trainyard::net::test
