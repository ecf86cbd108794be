#include "launch/channel.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>

#include "launch/proofs.h"

namespace trainyard::launch {
namespace {

constexpr std::string_view kMagic = "TYL1";
constexpr std::size_t kNonce = 16;
constexpr std::size_t kDigest = 32;
constexpr std::size_t kMac = 16;

std::string bigEndian(std::uint64_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(number >> shift & 0xFFU);
  return text;
}

std::size_t sizeAt(std::string_view text) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size = size << 8U | static_cast<unsigned char>(text[i]);
  return size;
}

std::string encode(const Message& message) {
  std::string body = bigEndian(message.kind.size(), 4) + message.kind;
  for (const std::string& field : message.fields) (body += bigEndian(field.size(), 4)) += field;
  return body;
}

std::optional<Message> decode(std::string_view body) {
  Message message;
  for (bool first = true; !body.empty(); first = false) {
    if (body.size() < 4 || sizeAt(body) > body.size() - 4) return std::nullopt;
    const std::size_t size = sizeAt(body);
    if (first)
      message.kind = body.substr(4, size);
    else
      message.fields.emplace_back(body.substr(4, size));
    body.remove_prefix(4 + size);
  }
  return message;
}

void makeReady(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  // A member on a lost node sends nothing any more: keepalive detects that after about 20 s.
  const int idle = 10;
  const int each = 3;
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &each, sizeof each);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &each, sizeof each);
  // Keepalive sends no probes while data is unacknowledged: the connection would stay open for 15 minutes.
  const int unanswered = 20'000;
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof unanswered);
}

}  // namespace

Channel::Channel(Loop& loop, int fd, bool server, std::string token)
    : loop_(loop), fd_(fd), server_(server), token_(std::move(token)), nonce_(kNonce, '\0') {
  makeReady(fd_);
  if (::getrandom(nonce_.data(), nonce_.size(), 0) != static_cast<ssize_t>(kNonce)) return;
  if (server_) out_.append(kMagic).append(nonce_);
  watch();
}

Channel::~Channel() {
  *alive_ = false;
  if (fd_ < 0) return;
  loop_.unwatch(fd_);
  ::close(fd_);
}

std::string Channel::proof(std::string_view what) const {
  return hmacSha256(token_, std::string(what) + nonces_);
}

std::string Channel::macOf(std::string_view key, std::uint64_t number, std::string_view body) const {
  return hmacSha256(key, bigEndian(number, 8).append(body)).substr(0, kMac);
}

void Channel::send(const Message& message) {
  if (!isOpen()) return;
  const std::string body = encode(message);
  ((out_ += bigEndian(body.size(), 4)) += body) += macOf(sendKey_, sent_++, body);
  if (body.size() > kMaxBody || out_.size() > kMaxUnsent) {
    // Deferred: the caller of send() may be in the middle of an operation on its peers.
    loop_.after(std::chrono::milliseconds(0), [this, alive = alive_] {
      if (*alive) close();
    });
    return;
  }
  watch();
}

void Channel::close() {
  if (fd_ < 0) return;
  loop_.unwatch(fd_);
  ::close(std::exchange(fd_, -1));
  const auto closed = events_.closed;
  closed();
}

void Channel::watch() {
  if (fd_ < 0) return;
  const short events = static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT);
  loop_.watch(fd_, events, [this](short happened) { ready(happened); });
}

void Channel::ready(short events) {
  const auto alive = alive_;
  if ((events & POLLOUT) != 0) flush();
  if (*alive && fd_ >= 0 && (events & (POLLIN | POLLERR | POLLHUP)) != 0) read();
}

void Channel::flush() {
  const ssize_t done = ::send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
  if (done < 0) {
    if (errno != EAGAIN && errno != EINTR) close();
    return;
  }
  out_.erase(0, static_cast<std::size_t>(done));
  if (out_.empty()) watch();
}

void Channel::read() {
  std::array<char, 65'536> buffer{};
  const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return close();
  in_.append(buffer.data(), static_cast<std::size_t>(got));
  const auto alive = alive_;
  while (fd_ >= 0 && (keyed_ ? takeMessage() : handshake())) {
    if (!*alive) return;
  }
}

// Performs one step; returns false if more bytes are needed, or the connection was closed.
bool Channel::handshake() {
  const auto keys = [this] {
    const std::string fromClient = proof("from client");
    const std::string fromServer = proof("from server");
    sendKey_ = server_ ? fromServer : fromClient;
    takeKey_ = server_ ? fromClient : fromServer;
    keyed_ = true;
  };
  const auto refuse = [this] {
    close();
    return false;
  };
  const std::size_t hello = kMagic.size() + kNonce;
  if (!server_ && answered_) {
    if (in_.size() < kDigest) return false;
    if (!sameDigest(in_.substr(0, kDigest), proof("server"))) return refuse();
    in_.erase(0, kDigest);
    keys();
    events_.open();
    return fd_ >= 0;
  }
  if (in_.size() < (server_ ? hello + kDigest : hello)) return false;
  if (!in_.starts_with(kMagic)) return refuse();
  const std::string theirs = in_.substr(kMagic.size(), kNonce);
  nonces_ = server_ ? nonce_ + theirs : theirs + nonce_;
  if (server_) {
    if (!sameDigest(in_.substr(hello, kDigest), proof("client"))) return refuse();
    in_.erase(0, hello + kDigest);
    out_ += proof("server");
    keys();
    watch();
    events_.open();
  } else {
    in_.erase(0, hello);
    out_.append(kMagic).append(nonce_).append(proof("client"));
    answered_ = true;
    watch();
  }
  return fd_ >= 0;
}

bool Channel::takeMessage() {
  if (in_.size() < 4) return false;
  const std::size_t size = sizeAt(in_);
  if (size > kMaxBody) {
    close();
    return false;
  }
  if (in_.size() < 4 + size + kMac) return false;
  const std::string body = in_.substr(4, size);
  const bool genuine = sameDigest(in_.substr(4 + size, kMac), macOf(takeKey_, taken_++, body));
  in_.erase(0, 4 + size + kMac);
  auto message = decode(body);
  if (!genuine || !message) {
    close();
    return false;
  }
  events_.message(std::move(*message));
  return true;
}

int listenOn(int port) {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  const int off = 0;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (fd >= 0) {
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 && ::listen(fd, SOMAXCONN) == 0)
      return fd;
    ::close(fd);
  }
  // If IPv6 is switched off.
  const int four = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (four < 0) return -1;
  ::setsockopt(four, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in all{};
  all.sin_family = AF_INET;
  all.sin_port = any.sin6_port;
  if (::bind(four, reinterpret_cast<const sockaddr*>(&all), sizeof all) == 0 &&
      ::listen(four, SOMAXCONN) == 0)
    return four;
  ::close(four);
  return -1;
}

int connectTo(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* each = found; each != nullptr && fd < 0; each = each->ai_next) {
    fd = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && ::connect(fd, each->ai_addr, each->ai_addrlen) != 0 && errno != EINPROGRESS) {
      ::close(fd);
      fd = -1;
    }
  }
  ::freeaddrinfo(found);
  return fd;
}

std::string readToken(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace trainyard::launch
