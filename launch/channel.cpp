#include "launch/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "launch/sockets.h"

namespace trainyard::launch {

Channel::Channel(Loop& loop, int fd, bool server, std::string token)
    : loop_(loop), fd_(fd), handshake_(server, std::move(token)) {
  prepareConnection(fd_);
  if (!handshake_.canBegin()) return;
  out_ = handshake_.greeting();
  watch();
}

Channel::~Channel() {
  *alive_ = false;
  if (fd_ < 0) return;
  loop_.unwatch(fd_);
  ::close(fd_);
}

void Channel::send(const Message& message) {
  if (!isOpen()) return;
  const std::string sealed = messages_->seal(message);
  out_ += sealed;
  if (MessageStream::isTooLarge(sealed) || out_.size() > kMaxUnsent) {
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
  while (fd_ >= 0 && (messages_ ? takeMessage() : handshake())) {
    if (!*alive) return;
  }
}

// Performs one step; returns false if more bytes are needed, or the connection was closed.
bool Channel::handshake() {
  const std::size_t before = out_.size();
  const Handshake::Progress progress = handshake_.step(in_, out_);
  if (progress == Handshake::Progress::kNeedsMore) return false;
  if (progress == Handshake::Progress::kRefused) {
    close();
    return false;
  }
  const bool done = progress == Handshake::Progress::kDone;
  if (done) messages_.emplace(handshake_.keys());
  if (out_.size() > before) watch();
  if (done) events_.open();
  return fd_ >= 0;
}

bool Channel::takeMessage() {
  auto taken = messages_->take(in_);
  if (taken.broken) close();
  if (!taken.message) return false;
  events_.message(std::move(*taken.message));
  return true;
}

std::string readToken(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace trainyard::launch
