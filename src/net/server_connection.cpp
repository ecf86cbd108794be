// Reads requests and passes them to the handler; server_connection_write.cpp answers them.
#include "net/server_connection.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/server_exchange.h"
#include "net/server_tls.h"

namespace trainyard::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

std::optional<Method> methodOf(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::kGet;
    case http::verb::post: return Method::kPost;
    case http::verb::put: return Method::kPut;
    case http::verb::patch: return Method::kPatch;
    case http::verb::delete_: return Method::kDelete;
    default: return std::nullopt;
  }
}

// Enough for the request line; an idle connection must not hold more memory than it needs.
constexpr std::size_t kFirstReadBytes = 4u << 10;
constexpr std::size_t kSmallBodyBytes = 256u << 10;

}  // namespace

void Connection::setStanding(Standing standing) {
  standing_ = standing;
  waitingSince_ = std::chrono::steady_clock::now();
}

void Connection::start() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  if (!tls_) {
    nextRequest();
    return;
  }
  arm(readTimer_, core_.limits.readTimeout, [](Connection& self) { self.close(); });
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [self = shared_from_this()](const error_code& error) { self->onHandshake(error); });
}

void Connection::onHandshake(const error_code& error) {
  if (phase_ == Phase::kClosed) return;
  if (!error) {
    clientCommonName_ = commonNameOf(tls_->native_handle());
    nextRequest();
    return;
  }
  const bool plainHttp = error.category() == asio::error::get_ssl_category() &&
                         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
  tls_.reset();
  if (plainHttp) {
    phase_ = Phase::kReading;
    refuse(400, "this port speaks HTTPS only");
  } else {
    phase_ = Phase::kClosing;
    discardUntilClosed();
  }
}

void Connection::nextRequest() {
  if (core_.stopping) {
    closeGently();
    return;
  }
  phase_ = Phase::kReading;
  if (request_ > 0) {
    setStanding(Standing::kRegular);
  } else {
    // The wait counts from the accept, not from the first processing, which may be in another order.
    standing_ = Standing::kNewcomer;
  }
  requestBegun_ = false;
  headerAccepted_ = false;
  answer_ = Answer::kNone;
  lastQueued_ = false;
  ++request_;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(core_.limits.maxHeaderBytes));
  parser_->body_limit(core_.limits.maxBodyBytes);
  if (in_.size() > 0) {
    parse();
    return;
  }
  arm(readTimer_, core_.limits.idleTimeout, [](Connection& self) { self.closeGently(); });
  read();
}

void Connection::read() {
  if (reading_ || phase_ == Phase::kClosed) return;
  reading_ = true;
  const bool first = phase_ == Phase::kAnswering || !requestBegun_;
  const auto space = in_.prepare(std::min(first ? kFirstReadBytes : kReadBytes, kReadBytes - in_.size()));
  auto done = [self = shared_from_this()](const error_code& error, std::size_t bytes) {
    self->onRead(error, bytes);
  };
  if (tls_) {
    tls_->async_read_some(space, std::move(done));
  } else {
    socket_.async_read_some(space, std::move(done));
  }
}

void Connection::onRead(const error_code& error, std::size_t bytes) {
  reading_ = false;
  in_.commit(bytes);
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
      if (error && answer_ == Answer::kStreaming) close();
      keepAlive_ = keepAlive_ && !error;
      break;
    case Phase::kHandshake:
    case Phase::kClosing:
    case Phase::kClosed: break;
  }
}

void Connection::parse() {
  if (!requestBegun_) {
    requestBegun_ = true;
    arm(readTimer_, core_.limits.readTimeout,
        [](Connection& self) { self.refuse(408, "the request did not arrive in time"); });
  }
  while (!parser_->is_done()) {
    if (in_.size() == 0) {
      read();
      return;
    }
    error_code error;
    const std::size_t used = parser_->put(in_.data(), error);
    in_.consume(used);
    if (error && error != http::error::need_more) {
      refuse(error);
      return;
    }
    if (parser_->is_header_done() && !headerAccepted_) {
      headerAccepted_ = true;
      if (!acceptHeader()) return;
      continue;
    }
    if (!countBody()) return;
    if (used == 0) {
      if (in_.size() == kReadBytes) {
        refuse(400, "a chunk extension or trailer is too long");
        return;
      }
      read();
      return;
    }
  }
  handle();
}

// Answers the request and returns false if its body need not be read.
bool Connection::acceptHeader() {
  auto& message = parser_->get();
  chunked_ = message.version() >= 11;
  if (!methodOf(message.method())) {
    refuse(405, fmt::format("method {} is not supported", std::string(message.method_string())));
    return false;
  }
  if (chunked_ && message.count(http::field::host) != 1) {
    refuse(400, "exactly one Host header is needed");
    return false;
  }
  if (const auto length = parser_->content_length()) message.body().reserve(*length + kBodyPadding);
  const auto expectation = message[http::field::expect];
  if (!expectation.empty() && !equalsWithoutCase({expectation.data(), expectation.size()}, "100-continue")) {
    refuse(417, "only 100-continue can be expected");
    return false;
  }
  parser_->eager(true);
  if (!expectation.empty() && in_.size() == 0 && !parser_->is_done())
    send("HTTP/1.1 100 Continue\r\n\r\n", false);
  return true;
}

// Refuses the request and returns false if all bodies together exceed the limit.
bool Connection::countBody() {
  const std::size_t size = parser_->get().body().size();
  const std::size_t all = core_.bodiesBytes->fetch_add(size - bodyBytes_) + size - bodyBytes_;
  bodyBytes_ = size;
  if (all <= core_.limits.maxBodiesBytes || size <= kSmallBodyBytes) return true;
  refuse(503, "too many large requests at a time");
  return false;
}

void Connection::forgetBody() {
  *core_.bodiesBytes -= std::exchange(bodyBytes_, 0);
  parser_.reset();
}

// Returns the token that the handler releases when it no longer needs the body.
std::shared_ptr<void> Connection::handOverCount() {
  const std::size_t bytes = std::exchange(bodyBytes_, 0);
  if (bytes == 0) return nullptr;
  return {nullptr, [bytes, all = core_.bodiesBytes](void*) { *all -= bytes; }};
}

void Connection::handle() {
  phase_ = Phase::kAnswering;
  setStanding(Standing::kAnswered);
  readTimer_.cancel();
  auto message = parser_->release();
  keepAlive_ = message.keep_alive();
  ServerRequest request{.method = methodOf(message.method()).value_or(Method::kGet),
                        .target = std::string(message.target()),
                        .headers = {},
                        .body = std::move(message.body()),
                        .countsBody = handOverCount(),
                        .clientCommonName = clientCommonName_,
                        .clientAddress = peer_.to_string()};
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body.reserve(request.body.size() + kBodyPadding);
  // Reading continues, so that a disconnect is detected. Pipelined requests wait in the buffer.
  if (in_.size() == 0 && !reading_) {
    in_.shrink_to_fit();
    read();
  }
  const auto exchange = makeExchange(core_.gate, weak_from_this(), request_);
  try {
    core_.handler(std::move(request), exchange);
  } catch (...) {
    abandon(request_);
  }
  forgetBody();
}

void Connection::refuse(const error_code& error) {
  if (error == http::error::body_limit) {
    refuse(413, fmt::format("the body is larger than {} bytes", core_.limits.maxBodyBytes));
  } else if (error == http::error::header_limit) {
    refuse(431, fmt::format("the header is larger than {} bytes", core_.limits.maxHeaderBytes));
  } else {
    refuse(400, error.message());
  }
}

}  // namespace trainyard::net
