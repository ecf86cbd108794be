// Answers requests, and closes connections so that the answer arrives.
#include <algorithm>

#include "net/response_head.h"
#include "net/server_connection.h"

namespace trainyard::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::size_t kWriteBytes = 256u << 10;  // the write timer restarts after each such piece
constexpr std::size_t kCoalesceBytes = 64u << 10;
constexpr std::size_t kDiscardBytes = 16u << 10;
constexpr std::size_t kMaxDiscardedBytes = 16u << 20;
constexpr milliseconds kLingerTimeout{1'000};

HttpResponse plainAnswer(int status, std::string text) {
  HttpResponse response{.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}};
  if (status == 405) response.headers.emplace_back("Allow", "GET, POST, PUT, PATCH, DELETE");
  response.body = std::move(text) + "\n";
  return response;
}

}  // namespace

void Connection::reply(std::uint64_t request, const HttpResponse& response) {
  if (phase_ != Phase::kAnswering || request != request_ || answer_ != Answer::kNone) return;
  answer(response);
}

void Connection::answer(const HttpResponse& response) {
  answer_ = Answer::kComplete;
  keepAlive_ = keepAlive_ && !core_.stopping;
  std::string bytes = makeResponseHead(response, Framing::kLength, keepAlive_);
  if (response.status != 204 && response.status != 304) bytes += response.body;
  // From now on the reader determines the duration, which must not protect the connection from being closed.
  if (phase_ == Phase::kAnswering && standing_ == Standing::kAnswered) setStanding(Standing::kRegular);
  send(std::move(bytes), true);
}

void Connection::startStream(std::uint64_t request, const HttpResponse& head) {
  if (phase_ != Phase::kAnswering || request != request_ || answer_ != Answer::kNone) return;
  answer_ = Answer::kStreaming;
  keepAlive_ = keepAlive_ && chunked_;
  if (gone_) {
    close();
    return;
  }
  send(makeResponseHead(head, chunked_ ? Framing::kChunked : Framing::kUntilClose, keepAlive_), false);
}

void Connection::write(std::uint64_t request, const std::string& chunk) {
  queued_ -= chunk.size();  // send() counts it again, framed
  if (phase_ != Phase::kAnswering || request != request_ || answer_ != Answer::kStreaming) return;
  send(chunked_ ? makeChunk(chunk) : chunk, false);
}

void Connection::end(std::uint64_t request) {
  if (phase_ != Phase::kAnswering || request != request_ || answer_ != Answer::kStreaming) return;
  answer_ = Answer::kComplete;
  send(chunked_ ? std::string(kLastChunk) : std::string(), true);
}

void Connection::abandon(std::uint64_t request) {
  if (phase_ != Phase::kAnswering || request != request_ || answer_ == Answer::kComplete) return;
  if (answer_ == Answer::kStreaming) {
    close();  // without the last chunk, so that the client detects the truncation
  } else {
    answer(plainAnswer(500, "the request was not answered"));
  }
}

void Connection::refuse(int status, std::string text) {
  if (phase_ != Phase::kReading) return;
  phase_ = Phase::kAnswering;
  forgetBody();
  readTimer_.cancel();
  keepAlive_ = false;
  answer(plainAnswer(status, std::move(text)));
}

void Connection::send(std::string bytes, bool last) {
  lastQueued_ = last;
  queued_ += bytes.size();
  out_.push_back(std::move(bytes));
  if (!writeActive_) writeNext();
}

void Connection::writeNext() {
  writeActive_ = true;
  writing_ = std::move(out_.front());
  out_.pop_front();
  while (!out_.empty() && writing_.size() + out_.front().size() <= kCoalesceBytes) {
    writing_ += out_.front();
    out_.pop_front();
  }
  written_ = 0;
  writePiece();
}

void Connection::writePiece() {
  arm(writeTimer_, core_.limits.writeTimeout, [](Connection& self) { self.close(); });
  const asio::const_buffer piece =
      asio::buffer(writing_.data() + written_, std::min(writing_.size() - written_, kWriteBytes));
  auto done = [self = shared_from_this()](const error_code& error, std::size_t bytes) {
    self->onWritten(error, bytes);
  };
  if (tls_) {
    tls_->async_write_some(piece, std::move(done));
  } else {
    socket_.async_write_some(piece, std::move(done));
  }
}

void Connection::onWritten(const error_code& error, std::size_t bytes) {
  if (phase_ == Phase::kClosed) return;
  if (error) {
    close();
    return;
  }
  queued_ -= bytes;
  written_ += bytes;
  if (written_ < writing_.size()) {
    writePiece();
  } else if (!out_.empty()) {
    writeNext();
  } else {
    writeActive_ = false;
    writeTimer_.cancel();
    if (lastQueued_) answerSent();
  }
}

void Connection::answerSent() {
  if (keepAlive_) {
    nextRequest();
  } else {
    closeGently();
  }
}

// Closing with unread input would reset the connection and could discard the answer at the client.
void Connection::closeGently() {
  if (phase_ == Phase::kClosing || phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosing;
  setStanding(Standing::kNewcomer);
  gone_ = true;
  arm(readTimer_, kLingerTimeout, [](Connection& self) { self.close(); });
  if (tls_) {
    tls_->async_shutdown([self = shared_from_this()](const error_code&) { self->discardUntilClosed(); });
  } else {
    discardUntilClosed();
  }
}

void Connection::discardUntilClosed() {
  if (phase_ == Phase::kClosed) return;
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  if (discarded_ > kMaxDiscardedBytes) {
    close();
    return;
  }
  if (reading_ && !tls_) socket_.cancel(ignored);
  discardBuffer_.resize(kDiscardBytes);
  socket_.async_read_some(asio::buffer(discardBuffer_),
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->discarded_ += bytes;
                            if (error) {
                              self->close();
                            } else {
                              self->discardUntilClosed();
                            }
                          });
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  gone_ = true;
  *core_.bodiesBytes -= std::exchange(bodyBytes_, 0);
  error_code ignored;
  readTimer_.cancel();
  writeTimer_.cancel();
  socket_.close(ignored);
  core_.remove(this);
}

void Connection::closeWhenIdle() {
  if (phase_ != Phase::kAnswering || answer_ == Answer::kStreaming) close();
}

}  // namespace trainyard::net
