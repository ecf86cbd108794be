// Answers requests, and closes connections so that the answer arrives.
#include <utility>

#include "net/server_connection.h"

namespace trainyard::net {
namespace {

using boost::system::error_code;

constexpr std::chrono::milliseconds kLingerTimeout{1'000};

HttpResponse plainAnswer(int status, std::string text) {
  HttpResponse response{.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}};
  if (status == 405) response.headers.emplace_back("Allow", "GET, POST, PUT, PATCH, DELETE");
  response.body = std::move(text) + "\n";
  return response;
}

}  // namespace

void Connection::reply(std::uint64_t request, const HttpResponse& response) {
  if (isAnswering(request) && answer_.isMissing()) answer(response);
}

void Connection::answer(const HttpResponse& response) {
  if (core_.stopping) answer_.closeAfterwards();
  std::string bytes = answer_.whole(response);
  // From now on the reader determines the duration, which must not protect the connection from being closed.
  if (phase_ == Phase::kAnswering && standing_.get() == Standing::kAnswered)
    standing_.become(Standing::kRegular);
  writer_.send(shared_from_this(), std::move(bytes), true);
}

void Connection::startStream(std::uint64_t request, const HttpResponse& head) {
  if (!isAnswering(request) || !answer_.isMissing()) return;
  std::string bytes = answer_.streamHead(head);
  if (gone_) {
    close();
    return;
  }
  writer_.send(shared_from_this(), std::move(bytes), false);
}

void Connection::write(std::uint64_t request, const std::string& chunk) {
  writer_.unreserve(chunk.size());
  if (isAnswering(request) && answer_.isStreaming())
    writer_.send(shared_from_this(), answer_.piece(chunk), false);
}

void Connection::end(std::uint64_t request) {
  if (isAnswering(request) && answer_.isStreaming())
    writer_.send(shared_from_this(), answer_.streamEnd(), true);
}

void Connection::abandon(std::uint64_t request) {
  if (!isAnswering(request) || answer_.isComplete()) return;
  if (answer_.isStreaming()) {
    close();  // without the last chunk, so that the client detects the truncation
  } else {
    answer(plainAnswer(500, "the request was not answered"));
  }
}

void Connection::refuse(int status, std::string text) {
  if (phase_ != Phase::kReading) return;
  phase_ = Phase::kAnswering;
  reader_.forget();
  readTimer_.cancel();
  answer_.closeAfterwards();
  answer(plainAnswer(status, std::move(text)));
}

void Connection::onAnswerSent() {
  if (answer_.keepsAlive()) {
    nextRequest();
  } else {
    closeGently();
  }
}

// Closing with unread input would reset the connection and could discard the answer at the client.
void Connection::closeGently() {
  if (phase_ == Phase::kClosing || phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosing;
  standing_.become(Standing::kNewcomer);
  gone_ = true;
  readTimer_.arm(kLingerTimeout, [self = shared_from_this()] { self->close(); });
  const auto discard = [self = shared_from_this()] {
    if (self->phase_ != Phase::kClosed) self->socket_.discardUntilClosed([self] { self->close(); });
  };
  if (socket_.usesTls()) {
    socket_.shutdownTls([discard](const error_code&) { discard(); });
  } else {
    if (reading_) socket_.cancel();
    discard();
  }
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  gone_ = true;
  reader_.forget();
  readTimer_.cancel();
  writer_.stop();
  socket_.close();
  core_.remove(this);
}

void Connection::closeWhenIdle() {
  if (phase_ != Phase::kAnswering || answer_.isStreaming()) close();
}

}  // namespace trainyard::net
