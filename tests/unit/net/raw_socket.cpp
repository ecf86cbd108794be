#include "tests/unit/net/raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace trainyard::net::test {
namespace {

constexpr int kPatienceSeconds = 20;

void need(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int listenSomewhere(std::uint16_t& port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  need(descriptor >= 0, "socket");
  sockaddr_in address = loopback(0);
  need(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  need(::listen(descriptor, 64) == 0, "listen");
  socklen_t size = sizeof address;
  need(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  port = ntohs(address.sin_port);
  return descriptor;
}

}  // namespace

RawConnection::~RawConnection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RawConnection RawConnection::connect(std::uint16_t port) { return connectFrom(1, port); }

RawConnection RawConnection::connectFrom(std::uint8_t host, std::uint16_t port) {
  RawConnection connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(connection.descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in self = loopback(0);
  self.sin_addr.s_addr = htonl(ntohl(self.sin_addr.s_addr) + host - 1U);
  need(::bind(connection.descriptor_, reinterpret_cast<const sockaddr*>(&self), sizeof self) == 0, "bind");
  const sockaddr_in address = loopback(port);
  need(::connect(connection.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
       "connect");
  return connection;
}

bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawConnection::fill() {
  std::array<char, 16384> buffer;
  const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    throw std::runtime_error("nothing came in time");
  if (count <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string RawConnection::readUntil(std::string_view text) {
  for (;;) {
    const std::size_t found = text.empty() ? std::string::npos : received_.find(text);
    if (found != std::string::npos) {
      const std::size_t end = found + text.size();
      std::string taken = received_.substr(0, end);
      received_.erase(0, end);
      return taken;
    }
    if (!fill()) return std::exchange(received_, {});
  }
}

std::string RawConnection::readRequest() {
  std::string request = readUntil("\r\n\r\n");
  const std::size_t mark = request.find("Content-Length:");
  if (mark == std::string::npos) return request;
  const std::size_t length = std::stoul(request.substr(mark + 15));
  while (received_.size() < length && fill()) {
  }
  request += received_.substr(0, length);
  received_.erase(0, length);
  return request;
}

void RawConnection::pumpInto(RawConnection& other) {
  while (!received_.empty() || fill()) {
    if (!other.send(std::exchange(received_, {}))) break;
  }
  other.closeSending();
}

void RawConnection::relay(RawConnection& one, RawConnection& other) {
  std::thread back([&] { other.pumpInto(one); });
  one.pumpInto(other);
  back.join();
}

void RawConnection::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(std::exchange(descriptor_, -1));
}

void RawConnection::closeSending() { ::shutdown(descriptor_, SHUT_WR); }

RawServer::RawServer(std::function<void(RawConnection&)> script)
    : script_(std::move(script)), listener_(listenSomewhere(port_)), acceptor_([this] { acceptAll(); }) {}

RawServer::~RawServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
}

void RawServer::acceptAll() {
  for (;;) {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) break;
    ++connections_;
    workers_.emplace_back([this, descriptor] {
      RawConnection connection(descriptor);
      script_(connection);
    });
  }
  for (auto& worker : workers_) worker.join();
}

std::uint16_t unusedPort() {
  std::uint16_t port = 0;
  ::close(listenSomewhere(port));
  return port;
}

}  // namespace trainyard::net::test
