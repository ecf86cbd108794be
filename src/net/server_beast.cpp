// HTTP/1.1 server. Boost.Beast parses requests; reading and writing is our own loop over Asio, because
// Beast's composed operations would be instantiated once per stream type (half a minute of compile time each)
// and give no hold on "from the first byte" timers.
#include "net/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/response_head.h"
#include "net/tls_material.h"

namespace trainyard::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using base::ErrorCode;
using base::fail;
using base::Result;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 64u << 10;    // less makes a 300 KB body many times slower
constexpr std::size_t kWriteBytes = 256u << 10;  // the write timer restarts after each such piece
constexpr std::size_t kCoalesceBytes = 64u << 10;
constexpr std::size_t kMaxQueuedBytes = 64u << 20;  // of a stream whose reader does not keep up
constexpr std::size_t kMaxDiscardedBytes = 16u << 20;
constexpr milliseconds kLingerTimeout{1'000};
constexpr milliseconds kDrainTimeout{500};
constexpr milliseconds kAcceptPause{100};

std::string commonNameOf(SSL* ssl) {
  const X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return {};
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return {};
  unsigned char* text = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
  if (length < 0) return {};
  std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  // "admin\0.evil" must not read as "admin" anywhere.
  return name.find('\0') == std::string::npos ? name : std::string{};
}

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

HttpResponse plainAnswer(int status, std::string text) {
  HttpResponse response{.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}};
  if (status == 405) response.headers.emplace_back("Allow", "GET, POST, PUT, PATCH, DELETE");
  response.body = std::move(text) + "\n";
  return response;
}

class Connection;

// Closed before the server goes away, so that an Exchange kept by someone never touches a dead server.
struct Gate {
  std::shared_mutex mutex;
  bool open = true;
};

// What the connections share.
struct ServerCore {
  ServerCore(const ServerOptions& options, ServerHandler serverHandler)
      : io(static_cast<int>(std::max<std::size_t>(options.threads, 1))),
        limits(options.limits),
        handler(std::move(serverHandler)) {}

  void add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> connections();
  // True when none is left within `limit`.
  bool waitUntilEmpty(milliseconds limit);

  asio::io_context io;
  const ServerLimits limits;
  const ServerHandler handler;
  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::atomic<bool> stopping = false;

  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> open;
  std::shared_ptr<asio::ssl::context> tls;
};

// One TCP connection. Everything but the constructor, queued_ and gone_ runs on the strand of its socket.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ServerCore& core, tcp::socket socket, std::shared_ptr<asio::ssl::context> tls)
      : core_(core),
        socket_(std::move(socket)),
        tlsContext_(std::move(tls)),
        readTimer_(socket_.get_executor()),
        writeTimer_(socket_.get_executor()) {
    if (tlsContext_) tls_.emplace(socket_, *tlsContext_);
  }

  // Always queued, never run at once: an Exchange that another thread has answered may be destroyed on the
  // strand itself, and its end must not overtake the answer.
  template <typename Function>
  void dispatch(Function function) {
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), function = std::move(function)]() mutable { function(*self); });
  }

  void start();
  void close();
  // Lets an answer that is being made or sent finish; everything else is closed.
  void closeWhenIdle();

  // What an Exchange does; ignored unless `request` is the one being answered.
  void reply(std::uint64_t request, const HttpResponse& response);
  void startStream(std::uint64_t request, const HttpResponse& head);
  void write(std::uint64_t request, const std::string& chunk);
  void end(std::uint64_t request);
  // The handler let go of its Exchange, or failed, before the answer was complete.
  void abandon(std::uint64_t request);

  // Any thread. False when more is queued than a connection may hold; it is as good as gone then.
  [[nodiscard]] bool reserve(std::size_t bytes) {
    if (queued_.fetch_add(bytes) + bytes <= kMaxQueuedBytes) return true;
    gone_ = true;
    return false;
  }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  enum class Phase { kHandshake, kReading, kAnswering, kClosing, kClosed };
  enum class Answer { kNone, kStreaming, kComplete };

  void onHandshake(const error_code& error);
  void nextRequest();
  void read();
  void onRead(const error_code& error, std::size_t bytes);
  void parse();
  [[nodiscard]] bool acceptHeader();
  void handle();
  void refuse(int status, std::string text);
  void refuse(const error_code& error);
  void answer(const HttpResponse& response);

  void send(std::string bytes, bool last);
  void writeNext();
  void writePiece();
  void onWritten(const error_code& error, std::size_t bytes);
  void answerSent();

  void closeGently();
  void discardUntilClosed();

  template <typename Function>
  void arm(asio::steady_timer& timer, milliseconds span, Function onExpiry) {
    timer.expires_after(span);
    timer.async_wait(
        [self = shared_from_this(), &timer, onExpiry = std::move(onExpiry)](const error_code& error) {
          // A handler that was already queued when the timer was set anew must not act.
          if (!error && timer.expiry() <= Clock::now()) onExpiry(*self);
        });
  }

  ServerCore& core_;
  tcp::socket socket_;
  std::shared_ptr<asio::ssl::context> tlsContext_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  std::string clientCommonName_;
  Phase phase_ = Phase::kHandshake;

  asio::steady_timer readTimer_;
  beast::flat_buffer in_{kReadBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  bool reading_ = false;
  bool requestBegun_ = false;
  bool headerAccepted_ = false;
  bool keepAlive_ = true;
  bool chunked_ = true;  // HTTP/1.1
  std::vector<char> discardBuffer_;
  std::size_t discarded_ = 0;

  std::uint64_t request_ = 0;  // number of the request being answered
  Answer answer_ = Answer::kNone;

  asio::steady_timer writeTimer_;
  std::deque<std::string> out_;
  std::string writing_;
  std::size_t written_ = 0;
  bool writeActive_ = false;
  bool lastQueued_ = false;
  std::atomic<std::size_t> queued_ = 0;
  std::atomic<bool> gone_ = false;
};

class ServerExchange final : public Exchange {
 public:
  ServerExchange(std::shared_ptr<Gate> gate, std::weak_ptr<Connection> connection, std::uint64_t request)
      : gate_(std::move(gate)), connection_(std::move(connection)), request_(request) {}

  ~ServerExchange() override {
    run([request = request_](Connection& connection) { connection.abandon(request); });
  }

  void reply(HttpResponse response) override {
    run([request = request_, response = std::move(response)](Connection& connection) {
      connection.reply(request, response);
    });
  }
  void startStream(HttpResponse head) override {
    run([request = request_, head = std::move(head)](Connection& connection) {
      connection.startStream(request, head);
    });
  }
  void write(std::string chunk) override {
    if (chunk.empty()) return;
    const std::size_t size = chunk.size();
    run([request = request_,
         chunk = std::move(chunk)](Connection& connection) { connection.write(request, chunk); },
        size);
  }
  void end() override {
    run([request = request_](Connection& connection) { connection.end(request); });
  }
  [[nodiscard]] bool clientGone() const override {
    const auto connection = connection_.lock();
    return !connection || connection->gone();
  }

 private:
  template <typename Function>
  void run(Function function, std::size_t bytes = 0) const {
    const std::shared_lock lock(gate_->mutex);
    if (!gate_->open) return;
    const auto connection = connection_.lock();
    if (!connection) return;
    if (connection->reserve(bytes)) {
      connection->dispatch(std::move(function));
    } else {
      connection->dispatch([](Connection& slow) { slow.close(); });
    }
  }

  const std::shared_ptr<Gate> gate_;
  const std::weak_ptr<Connection> connection_;
  const std::uint64_t request_;
};

void ServerCore::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex);
  open.emplace(connection.get(), connection);
}

void ServerCore::remove(const Connection* connection) {
  const std::lock_guard lock(mutex);
  open.erase(connection);
  changed.notify_all();
}

std::vector<std::shared_ptr<Connection>> ServerCore::connections() {
  const std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(open.size());
  for (const auto& [address, connection] : open) all.push_back(connection);
  return all;
}

bool ServerCore::waitUntilEmpty(milliseconds limit) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, limit, [this] { return open.empty(); });
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
  const auto space = in_.prepare(kReadBytes - in_.size());
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
      // The end of what the client sends. It may still read an answer, but there is nobody to stream to.
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

// Answers and returns false for requests whose body need not be read.
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

void Connection::handle() {
  phase_ = Phase::kAnswering;
  readTimer_.cancel();
  auto message = parser_->release();
  keepAlive_ = message.keep_alive();
  ServerRequest request{.method = methodOf(message.method()).value_or(Method::kGet),
                        .target = std::string(message.target()),
                        .headers = {},
                        .body = std::move(message.body()),
                        .clientCommonName = clientCommonName_};
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body.reserve(request.body.size() + kBodyPadding);
  // Reading goes on, so that a client that leaves is noticed. Pipelined requests wait in the buffer.
  if (in_.size() == 0) read();
  const auto exchange = std::make_shared<ServerExchange>(core_.gate, weak_from_this(), request_);
  try {
    core_.handler(std::move(request), exchange);
  } catch (...) {
    abandon(request_);
  }
}

void Connection::reply(std::uint64_t request, const HttpResponse& response) {
  if (phase_ != Phase::kAnswering || request != request_ || answer_ != Answer::kNone) return;
  answer(response);
}

void Connection::answer(const HttpResponse& response) {
  answer_ = Answer::kComplete;
  keepAlive_ = keepAlive_ && !core_.stopping;
  std::string bytes = makeResponseHead(response, Framing::kLength, keepAlive_);
  if (response.status != 204 && response.status != 304) bytes += response.body;
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
    close();  // without the last chunk, so that the client knows it is cut
  } else {
    answer(plainAnswer(500, "the request was not answered"));
  }
}

void Connection::refuse(int status, std::string text) {
  if (phase_ != Phase::kReading) return;
  phase_ = Phase::kAnswering;
  readTimer_.cancel();
  keepAlive_ = false;
  answer(plainAnswer(status, std::move(text)));
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

// Closing with unread input would reset the connection and could take the answer away from the client.
void Connection::closeGently() {
  if (phase_ == Phase::kClosing || phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosing;
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
  discardBuffer_.resize(kReadBytes / 4);
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
  error_code ignored;
  readTimer_.cancel();
  writeTimer_.cancel();
  socket_.close(ignored);
  core_.remove(this);
}

void Connection::closeWhenIdle() {
  if (phase_ != Phase::kAnswering || answer_ == Answer::kStreaming) close();
}

Result<std::shared_ptr<asio::ssl::context>> makeTlsContext(const TlsServerConfig& config) {
  const auto material = TlsMaterial::forServer(config);
  if (!material) return fail(material.error());
  try {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    if (const auto applied = (*material)->applyTo(context->native_handle()); !applied)
      return fail(applied.error());
    SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Idle connections keep no record buffers (34 KB each).
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    return context;
  } catch (const std::exception& problem) {
    return fail(ErrorCode::kInternal, fmt::format("TLS context: {}", problem.what()));
  }
}

class BeastServer final : public HttpServer {
 public:
  BeastServer(const ServerOptions& options, ServerHandler handler)
      : core_(options, std::move(handler)), acceptor_(asio::make_strand(core_.io)), acceptPause_(core_.io) {}

  ~BeastServer() override {
    core_.stopping = true;
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
      acceptPause_.cancel();
    });
    for (const auto& connection : core_.connections()) {
      connection->dispatch([](Connection& each) { each.closeWhenIdle(); });
    }
    if (!threads_.empty()) core_.waitUntilEmpty(kDrainTimeout);
    {
      const std::unique_lock lock(core_.gate->mutex);
      core_.gate->open = false;
    }
    for (const auto& connection : core_.connections()) {
      connection->dispatch([](Connection& each) { each.close(); });
    }
    work_.reset();
    for (auto& thread : threads_) thread.join();
  }

  // Throws boost::system::system_error.
  void listen(const tcp::endpoint& endpoint) {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  }

  void run(std::size_t threads) {
    asio::post(acceptor_.get_executor(), [this] { accept(); });
    for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
      threads_.emplace_back([this] { runThread(); });
    }
  }

  void setTls(std::shared_ptr<asio::ssl::context> context) {
    const std::lock_guard lock(core_.mutex);
    core_.tls = std::move(context);
  }

  [[nodiscard]] std::uint16_t port() const override { return port_; }

  [[nodiscard]] Result<void> reloadTls(const TlsServerConfig& tls) override {
    {
      const std::lock_guard lock(core_.mutex);
      if (!core_.tls) return fail(ErrorCode::kInvalid, "this server was started without TLS");
    }
    auto context = makeTlsContext(tls);
    if (!context) return fail(std::move(context.error()));
    setTls(std::move(*context));
    return {};
  }

 private:
  void runThread() {
    for (;;) {
      try {
        core_.io.run();
        return;
      } catch (...) {
        continue;  // memory ran out for one connection, say; the others go on
      }
    }
  }

  void accept() {
    if (core_.stopping) return;
    acceptor_.async_accept(asio::make_strand(core_.io), [this](const error_code& error, tcp::socket socket) {
      if (core_.stopping) return;
      if (error) {
        // Out of descriptors, most likely: trying again at once would only burn the processor.
        acceptPause_.expires_after(kAcceptPause);
        acceptPause_.async_wait(
            asio::bind_executor(acceptor_.get_executor(), [this](const error_code&) { accept(); }));
        return;
      }
      welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    std::shared_ptr<asio::ssl::context> tls;
    {
      const std::lock_guard lock(core_.mutex);
      if (core_.open.size() >= core_.limits.maxConnections) return;
      tls = core_.tls;
    }
    const auto connection = std::make_shared<Connection>(core_, std::move(socket), std::move(tls));
    core_.add(connection);
    connection->dispatch([](Connection& fresh) { fresh.start(); });
  }

  ServerCore core_;
  tcp::acceptor acceptor_;
  asio::steady_timer acceptPause_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{core_.io.get_executor()};
  std::vector<std::thread> threads_;
  std::uint16_t port_ = 0;
};

Result<tcp::endpoint> endpointOf(const ServerOptions& options) {
  std::string address = options.address;
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("listen address \"{}\" is not an IP address such as 127.0.0.1 or [::]", options.address));
  }
  return tcp::endpoint(parsed, options.port);
}

}  // namespace

Result<std::unique_ptr<HttpServer>> startHttpServer(ServerOptions options, ServerHandler handler) {
  const auto endpoint = endpointOf(options);
  if (!endpoint) return fail(endpoint.error());
  std::shared_ptr<asio::ssl::context> tls;
  if (options.tls) {
    auto context = makeTlsContext(*options.tls);
    if (!context) return fail(std::move(context.error()));
    tls = std::move(*context);
  }
  auto server = std::make_unique<BeastServer>(options, std::move(handler));
  try {
    server->listen(*endpoint);
  } catch (const boost::system::system_error& problem) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot listen on {} port {}: {}", options.address,
                                                     options.port, problem.code().message()));
  }
  server->setTls(std::move(tls));
  server->run(options.threads);
  return server;
}

}  // namespace trainyard::net
