// Reads requests and passes them to the handler; server_connection_write.cpp answers them.
#include "net/server_connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/server_exchange.h"

namespace trainyard::net {

using boost::system::error_code;

Connection::Connection(ServerCore& core, boost::asio::ip::tcp::socket socket,
                       std::shared_ptr<boost::asio::ssl::context> tls)
    : core_(core),
      socket_(std::move(socket), std::move(tls)),
      standing_(socket_.usesTls() ? Standing::kUnauthenticated : Standing::kNewcomer),
      readTimer_(socket_.executor()),
      reader_(core_.limits, core_.bodiesBytes),
      writer_(socket_, core_.limits.writeTimeout,
              {.onFailed = [this] { close(); }, .onLastSent = [this] { onAnswerSent(); }}) {}

void Connection::start() {
  socket_.disableDelay();
  if (!socket_.usesTls()) {
    nextRequest();
    return;
  }
  readTimer_.arm(core_.limits.readTimeout, [self = shared_from_this()] { self->close(); });
  socket_.handshake([self = shared_from_this()](const error_code& error) { self->onHandshake(error); });
}

void Connection::onHandshake(const error_code& error) {
  if (phase_ == Phase::kClosed) return;
  if (!error) {
    socket_.handshakeSucceeded();
    nextRequest();
    return;
  }
  const bool plainHttp = error.category() == boost::asio::error::get_ssl_category() &&
                         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
  socket_.dropTls();
  if (plainHttp) {
    phase_ = Phase::kReading;
    refuse(400, "this port speaks HTTPS only");
  } else {
    phase_ = Phase::kClosing;
    socket_.discardUntilClosed([self = shared_from_this()] { self->close(); });
  }
}

void Connection::nextRequest() {
  if (core_.stopping) {
    closeGently();
    return;
  }
  phase_ = Phase::kReading;
  if (answer_.request() > 0) {
    standing_.become(Standing::kRegular);
  } else {
    standing_.becomeNewcomer();
  }
  reader_.nextRequest();
  answer_.nextRequest();
  if (reader_.hasInput()) {
    parse();
    return;
  }
  readTimer_.arm(core_.limits.idleTimeout, [self = shared_from_this()] { self->closeGently(); });
  read();
}

void Connection::read() {
  if (reading_ || phase_ == Phase::kClosed) return;
  reading_ = true;
  const bool first = phase_ == Phase::kAnswering || !reader_.hasBegun();
  socket_.readSome(reader_.space(first),
                   [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                     self->onRead(error, bytes);
                   });
}

void Connection::onRead(const error_code& error, std::size_t bytes) {
  reading_ = false;
  reader_.received(bytes);
  if (error) gone_ = true;
  switch (phase_) {
    case Phase::kReading:
      if (error) {
        close();
      } else {
        parse();
      }
      break;
    case Phase::kAnswering:
      // The client has stopped sending. It may still read a reply, but a stream has no reader.
      if (error && answer_.isStreaming()) close();
      if (error) answer_.closeAfterwards();
      break;
    case Phase::kHandshake:
    case Phase::kClosing:
    case Phase::kClosed: break;
  }
}

void Connection::parse() {
  if (reader_.begins()) {
    readTimer_.arm(core_.limits.readTimeout,
                   [self = shared_from_this()] { self->refuse(408, "the request did not arrive in time"); });
  }
  ReadStep step = reader_.parse();
  switch (step.kind) {
    case ReadStep::Kind::kSendContinue:
      writer_.send(shared_from_this(), "HTTP/1.1 100 Continue\r\n\r\n", false);
      read();
      break;
    case ReadStep::Kind::kRead: read(); break;
    case ReadStep::Kind::kHandle: handle(); break;
    case ReadStep::Kind::kRefuse: refuse(step.status, std::move(step.text)); break;
  }
}

void Connection::handle() {
  phase_ = Phase::kAnswering;
  standing_.become(Standing::kAnswered);
  readTimer_.cancel();
  ReceivedRequest received = reader_.take();
  answer_.requestCame(received.keepAlive, received.mayChunk);
  received.request.clientCommonName = socket_.clientCommonName();
  received.request.clientAddress = peer().to_string();
  // Reading continues, so that a disconnect is detected. Pipelined requests wait in the buffer.
  if (!reader_.hasInput() && !reading_) {
    reader_.shrink();
    read();
  }
  const auto exchange = makeExchange(core_.gate, weak_from_this(), answer_.request());
  try {
    core_.handler(std::move(received.request), exchange);
  } catch (...) {
    abandon(answer_.request());
  }
}

}  // namespace trainyard::net
