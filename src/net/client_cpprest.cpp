// The only file that uses cpprestsdk. Workarounds for it are explained where they are made.
#define _TURN_OFF_PLATFORM_STRING  // otherwise cpprestsdk defines a macro U, a name in fmt
#include "net/client.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cpprest/http_client.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pplx/threadpool.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/line_splitter.h"
#include "net/stream_delivery.h"
#include "net/tls_material.h"

// cpprestsdk makes a TLS context for every connection, which reads the system's whole CA bundle (50 ms and
// more); TlsMaterial then discards it. This definition overrides libssl's for every library of the process,
// so nothing is read. (Lost: an empty file named by SSL_CERT_FILE. Child processes, such as credential
// plugins of a kubeconfig, would inherit it and trust no CA.) If the definition is ever not effective,
// connections are only slower.
extern "C" __attribute__((visibility("default"), used)) int SSL_CTX_set_default_verify_paths(SSL_CTX*) {
  return 1;
}

namespace trainyard::net {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using Clock = std::chrono::steady_clock;

// cpprestsdk's own timeout restarts with every chunk; it must never expire before the timeout of this file.
constexpr std::chrono::hours kLibraryTimeout{24};
constexpr std::size_t kChunkBytes = 1u << 20;
constexpr std::size_t kMaxWaitingBytes = 8u << 20;

// cpprestsdk's threads run until the end of the process, beyond the exit handler by which OpenSSL frees what
// they use. This runs before main, because the first use of OpenSSL installs the handler.
[[maybe_unused]] const bool kOpensslStays = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;

boost::asio::io_context& ioContext() { return crossplat::threadpool::shared_instance().service(); }

// The pool belongs to the process; its default of 40 threads costs more than half of the throughput.
void startThreadPoolOnce(std::size_t threads) {
  static const bool ours = [threads] {
    try {
      crossplat::threadpool::initialize_with_threads(std::max<std::size_t>(threads, 2));
      return true;
    } catch (const std::exception&) {
      return false;  // already running, with a usable size
    }
  }();
  static_cast<void>(ours);
}

// The common part of both buffers below: cpprestsdk only calls _getn and _putn; the other calls fail.
class InertBuffer : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  using streambuf_state_manager::streambuf_state_manager;

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(std::uint8_t*& data, std::size_t& count) override {
    data = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<std::size_t> _putn(const std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<int_type> _putc(std::uint8_t) override {
    return pplx::task_from_result<int_type>(traits::eof());
  }
  pplx::task<int_type> _bumpc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  pplx::task<int_type> _ungetc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}
};

// The body of a request. It is deliberately not seekable: cpprestsdk silently re-sends a request, POST
// included, if the server closed its reused connection, unless the body cannot be rewound. Writes without a
// body get an empty one.
class BodySource final : public InertBuffer {
 public:
  explicit BodySource(std::string body) : InertBuffer(std::ios_base::in), body_(std::move(body)) {}

  [[nodiscard]] std::size_t length() const { return body_.size(); }
  // True if there is a body and none of it was sent: the server cannot have executed the request.
  [[nodiscard]] bool untouched() const { return !body_.empty() && !touched_; }
  // The rest of the body is never sent.
  void abandon() { abandoned_ = true; }

 protected:
  pplx::task<std::size_t> _getn(std::uint8_t* out, std::size_t count) override {
    touched_ = true;
    if (abandoned_) {
      return pplx::task_from_exception<std::size_t>(std::runtime_error("given up before its body was sent"));
    }
    const std::size_t length = std::min(count, body_.size() - position_);
    std::memcpy(out, body_.data() + position_, length);
    position_ += length;
    return pplx::task_from_result(length);
  }

 private:
  const std::string body_;
  std::size_t position_ = 0;
  std::atomic<bool> touched_ = false;
  std::atomic<bool> abandoned_ = false;
};

// Passes on each piece of an answer's body as it arrives. cpprestsdk reads on when the returned task
// completes, so an unfinished task provides the back-pressure that its own buffers lack. A failed task closes
// the connection.
class BodySink final : public InertBuffer {
 public:
  using Take = std::function<pplx::task<std::size_t>(std::string_view)>;
  explicit BodySink(Take take) : InertBuffer(std::ios_base::out), take_(std::move(take)) {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* data, std::size_t count) override {
    return take_(std::string_view(reinterpret_cast<const char*>(data), count));
  }

 private:
  const Take take_;
};

pplx::task<std::size_t> refuseBody(const char* why) {
  return pplx::task_from_exception<std::size_t>(std::runtime_error(why));
}

// Keeps why the last certificate was refused: the handshake itself reports only the refusal.
class TlsVerdict {
 public:
  void set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  [[nodiscard]] std::string get() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

  static int verify(X509_STORE_CTX* context, void* self) {
    const int good = X509_verify_cert(context);
    if (good != 1) {
      const int error = X509_STORE_CTX_get_error(context);
      // cpprestsdk's check of the name refuses without a reason.
      const bool unnamed = error == X509_V_OK || error == X509_V_ERR_UNSPECIFIED;
      static_cast<TlsVerdict*>(self)->set(unnamed ? "the certificate is not for this name"
                                                  : X509_verify_cert_error_string(error));
    }
    return good;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// One request in flight. Owned by its handle or queue, and by cpprestsdk's continuations.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;
  // Cancels without any callback.
  virtual void drop() = 0;
};

class SendOperation;

// Returns the host without the brackets around an IPv6 address.
std::string bareHost(const std::string& url) {
  std::string host = web::uri(url).host();
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

bool isIpv6(const std::string& host) { return host.find(':') != std::string::npos; }

// cpprestsdk passes the host unchanged to the resolver, which accepts an IPv6 address without brackets only.
// A proxy resolves the host itself.
web::uri dialledUrl(const ClientOptions& options) {
  const web::uri url(options.url);
  const std::string host = bareHost(options.url);
  if (!isIpv6(host) || !options.proxy.empty()) return url;
  return web::uri_builder(url).set_host(host).to_uri();
}

// Returns the Host header if it differs from cpprestsdk's. cpprestsdk also verifies the certificate against
// it, so over TLS an IPv6 address has neither brackets nor port; API servers ignore the header.
std::string hostHeader(const ClientOptions& options) {
  if (options.tls && !options.tls->serverName.empty()) return options.tls->serverName;
  const std::string host = bareHost(options.url);
  if (!isIpv6(host)) return {};
  if (options.url.starts_with("https")) return host;
  const web::uri url(options.url);
  return url.port() > 0 ? fmt::format("[{}]:{}", host, url.port()) : fmt::format("[{}]", host);
}

// The state shared by a client and its operations. It outlives the client until the last continuation.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(ClientOptions clientOptions, base::Executor& loop, std::shared_ptr<const TlsMaterial> tls)
      : options(std::move(clientOptions)),
        executor(loop),
        hostHeader_(hostHeader(options)),
        verdict_(std::make_shared<TlsVerdict>()),
        client_(makeClient(std::move(tls))) {}

  // A client's connections keep the identity they were opened with, so a new identity needs a new client. The
  // old one lives as long as its requests.
  void useTls(std::shared_ptr<const TlsMaterial> tls) {
    auto fresh = makeClient(std::move(tls));
    const std::lock_guard lock(mutex_);
    client_.swap(fresh);
  }

  // Starts the request now or in its turn.
  void admit(const std::shared_ptr<SendOperation>& operation);
  void add(const std::shared_ptr<Operation>& operation) {
    const std::lock_guard lock(mutex_);
    operations_.emplace(operation.get(), operation);
  }
  // `hadSlot`: the operation counted as in flight, and the next one may start.
  void remove(const Operation* operation, bool hadSlot);
  // Runs `task` on the loop, unless the client is gone by then.
  void postToLoop(base::Task task);
  // Called on the loop's thread: no callback runs after it.
  void close();

  // Sends the request; exceptions arrive in the task.
  [[nodiscard]] pplx::task<web::http::http_response> start(const HttpRequest& request,
                                                           const std::shared_ptr<BodySource>& source,
                                                           BodySink::Take take,
                                                           const pplx::cancellation_token& token);
  [[nodiscard]] base::Error errorFrom(std::exception_ptr exception, const BodySource& source) const;

  const ClientOptions options;
  base::Executor& executor;

 private:
  using Client = web::http::client::http_client;
  [[nodiscard]] web::http::client::http_client_config makeConfig(
      std::shared_ptr<const TlsMaterial> tls) const;
  [[nodiscard]] std::shared_ptr<Client> makeClient(std::shared_ptr<const TlsMaterial> tls) const {
    return std::make_shared<Client>(dialledUrl(options), makeConfig(std::move(tls)));
  }
  [[nodiscard]] std::shared_ptr<Client> client() {
    const std::lock_guard lock(mutex_);
    return client_;
  }

  const std::string hostHeader_;
  const std::shared_ptr<TlsVerdict> verdict_;

  std::mutex mutex_;
  std::shared_ptr<Client> client_;
  std::unordered_map<const Operation*, std::weak_ptr<Operation>> operations_;
  std::deque<std::shared_ptr<SendOperation>> waiting_;
  std::size_t active_ = 0;
  std::atomic<bool> closed_ = false;
};

HttpResponse headOf(const web::http::http_response& response) {
  HttpResponse head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) head.headers.emplace_back(name, value);
  return head;
}

class SendOperation final : public Operation, public std::enable_shared_from_this<SendOperation> {
 public:
  SendOperation(std::shared_ptr<Core> core, HttpRequest request,
                std::function<void(Result<HttpResponse>)> done)
      : core_(std::move(core)), request_(std::move(request)), done_(std::move(done)), timer_(ioContext()) {
    source_ = std::make_shared<BodySource>(std::move(request_.body));
  }

  void armDeadline() {
    const std::lock_guard lock(mutex_);
    timer_.expires_after(request_.timeout);
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      if (error) return;
      if (const auto self = weak.lock()) self->expire();
    });
  }

  // Called once by the core when the request may start.
  void begin() {
    {
      const std::lock_guard lock(mutex_);
      if (finished_) return;
      begun_ = true;
    }
    auto take = [self = shared_from_this()](std::string_view piece) { return self->take(piece); };
    core_->start(request_, source_, std::move(take), cancel_.get_token())
        .then([self = shared_from_this()](const pplx::task<web::http::http_response>& headTask) {
          self->onHead(headTask);
        });
  }

  // Returns false if the request has ended; otherwise it counts as in flight until the core removes it.
  [[nodiscard]] bool takeSlot() {
    const std::lock_guard lock(mutex_);
    hasSlot_ = !finished_;
    return hasSlot_;
  }

  void drop() override {
    if (!close()) return;
    source_->abandon();
    cancel_.cancel();
    done_ = nullptr;
  }

 private:
  pplx::task<std::size_t> take(std::string_view piece) {
    const std::size_t most =
        request_.maxAnswerBytes != 0 ? request_.maxAnswerBytes : core_->options.maxBodyBytes;
    if (body_.size() + piece.size() > most) {
      finish(fail(ErrorCode::kTooLarge,
                  fmt::format("{}: the answer is larger than {} bytes", describe(), most)));
      return refuseBody("too large");
    }
    body_.append(piece);
    return pplx::task_from_result(piece.size());
  }

  void onHead(const pplx::task<web::http::http_response>& headTask) {
    try {
      headTask.get().content_ready().then(
          [self = shared_from_this()](const pplx::task<web::http::http_response>& whole) {
            self->onBody(whole);
          });
    } catch (...) {
      finish(fail(error(std::current_exception())));
    }
  }

  void onBody(const pplx::task<web::http::http_response>& whole) {
    try {
      HttpResponse response = headOf(whole.get());
      response.body = std::move(body_);
      finish(std::move(response));
    } catch (...) {
      finish(fail(error(std::current_exception())));
    }
  }

  void expire() {
    const bool sent = [this] {
      const std::lock_guard lock(mutex_);
      return begun_ && !source_->untouched();
    }();
    source_->abandon();
    finish(fail(sent ? ErrorCode::kOutcomeUnknown : ErrorCode::kUnavailable,
                fmt::format("{}: no whole answer within {} ms", describe(), request_.timeout.count())));
    cancel_.cancel();
  }

  // Returns true for the first caller, which alone may use done_.
  bool close() {
    bool hadSlot = false;
    {
      const std::lock_guard lock(mutex_);
      if (finished_) return false;
      finished_ = true;
      hadSlot = hasSlot_;
      timer_.cancel();
    }
    core_->remove(this, hadSlot);
    return true;
  }

  void finish(Result<HttpResponse> result) {
    if (!close()) return;
    core_->postToLoop(
        [done = std::move(done_), answer = std::move(result)]() mutable { done(std::move(answer)); });
  }

  [[nodiscard]] std::string describe() const {
    return fmt::format("{} {}{}", toString(request_.method), core_->options.url, request_.target);
  }
  [[nodiscard]] base::Error error(std::exception_ptr exception) const {
    base::Error result = core_->errorFrom(std::move(exception), *source_);
    result.message = describe() + ": " + result.message;
    return result;
  }

  const std::shared_ptr<Core> core_;
  HttpRequest request_;
  std::shared_ptr<BodySource> source_;
  std::string body_;  // grows on cpprestsdk's threads, one at a time
  pplx::cancellation_token_source cancel_;

  mutable std::mutex mutex_;
  std::function<void(Result<HttpResponse>)> done_;
  boost::asio::steady_timer timer_;
  bool begun_ = false;
  bool hasSlot_ = false;
  bool finished_ = false;
};

class StreamOperation final : public Operation, public std::enable_shared_from_this<StreamOperation> {
 public:
  StreamOperation(std::shared_ptr<Core> core, HttpRequest request, StreamCallbacks callbacks)
      : core_(std::move(core)),
        request_(std::move(request)),
        delivery_(std::make_shared<StreamDelivery>(core_->executor, std::move(callbacks), kMaxWaitingBytes)),
        source_(std::make_shared<BodySource>(std::move(request_.body))),
        splitter_(core_->options.maxLineBytes),
        lastHeard_(Clock::now()),
        timer_(ioContext()) {}

  void begin() {
    watchSilence(request_.timeout);
    boost::asio::post(ioContext(), [self = shared_from_this()] {
      if (self->delivery_->over()) return;
      auto take = [self](std::string_view piece) { return self->take(piece); };
      self->core_->start(self->request_, self->source_, std::move(take), self->cancel_.get_token())
          .then([self](const pplx::task<web::http::http_response>& headTask) { self->onHead(headTask); });
    });
  }

  // Called on the loop's thread.
  void drop() override {
    delivery_->cancel();
    shutDown();
  }

  // The first call determines how the stream ends.
  void end(Result<HttpResponse> result) {
    if (delivery_->finish(std::move(result))) shutDown();
  }

 private:
  pplx::task<std::size_t> take(std::string_view piece) {
    const std::lock_guard lock(mutex_);
    if (delivery_->over()) return refuseBody("stream is over");
    if (headSeen_) return takeBody(piece);
    // The head is being passed to another thread. Nothing more is read until it is known whether the answer
    // is a stream of lines.
    early_.assign(piece);
    earlyTaken_ = pplx::task_completion_event<std::size_t>();
    return pplx::create_task(earlyTaken_);
  }

  // Requires mutex_.
  pplx::task<std::size_t> takeBody(std::string_view piece) {
    lastHeard_ = Clock::now();
    if (head_.status != 200) {
      if (head_.body.size() + piece.size() > core_->options.maxBodyBytes) {
        end(fail(ErrorCode::kTooLarge, fmt::format("{}: the answer is larger than {} bytes", describe(),
                                                   core_->options.maxBodyBytes)));
        return refuseBody("too large");
      }
      head_.body.append(piece);
      return pplx::task_from_result(piece.size());
    }
    std::vector<std::string> lines;
    if (auto fed = splitter_.feed(piece, lines); !fed) {
      end(fail(fed.error().code, describe() + ": " + fed.error().message));
      return refuseBody("line too long");
    }
    if (lines.empty()) return pplx::task_from_result(piece.size());
    const pplx::task_completion_event<std::size_t> room;
    paused_ = true;
    const bool readOn =
        delivery_->push(std::move(lines), [self = shared_from_this(), room, size = piece.size()] {
          self->lastHeard_ = Clock::now();
          self->paused_ = false;
          room.set(size);
        });
    if (!readOn) return pplx::create_task(room);
    paused_ = false;
    return pplx::task_from_result(piece.size());
  }

  void onHead(const pplx::task<web::http::http_response>& headTask) {
    try {
      const web::http::http_response response = headTask.get();
      takeHead(response);
      response.content_ready().then(
          [self = shared_from_this()](const pplx::task<web::http::http_response>& whole) {
            self->onBody(whole);
          });
    } catch (...) {
      endWith(std::current_exception());
    }
  }

  void takeHead(const web::http::http_response& response) {
    const std::lock_guard lock(mutex_);
    head_ = headOf(response);
    headSeen_ = true;
    lastHeard_ = Clock::now();
    if (early_.empty()) return;
    const std::string piece = std::exchange(early_, {});
    takeBody(piece).then([taken = earlyTaken_](const pplx::task<std::size_t>& result) {
      try {
        taken.set(result.get());
      } catch (...) {
        taken.set_exception(std::current_exception());
      }
    });
  }

  void onBody(const pplx::task<web::http::http_response>& whole) {
    try {
      whole.get();
    } catch (...) {
      endWith(std::current_exception());
      return;
    }
    HttpResponse head;
    {
      const std::lock_guard lock(mutex_);
      std::string rest = splitter_.takeRest();
      if (!rest.empty()) static_cast<void>(delivery_->push({std::move(rest)}, [] {}));
      head = std::move(head_);
    }
    end(std::move(head));
  }

  void endWith(std::exception_ptr exception) {
    base::Error error = core_->errorFrom(std::move(exception), *source_);
    error.message = describe() + ": " + error.message;
    end(fail(std::move(error)));
  }

  void shutDown() {
    source_->abandon();
    {
      const std::lock_guard lock(timerMutex_);
      stopped_ = true;
      timer_.cancel();
    }
    core_->remove(this, false);
    cancel_.cancel();
  }

  void watchSilence(Clock::duration span) {
    const std::lock_guard lock(timerMutex_);
    if (stopped_) return;
    timer_.expires_after(span);
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      if (error) return;
      if (const auto self = weak.lock()) self->checkSilence();
    });
  }

  void checkSilence() {
    const Clock::duration silence = Clock::now() - lastHeard_.load();
    if (paused_ || silence < request_.timeout) {
      watchSilence(paused_ ? Clock::duration(request_.timeout) : request_.timeout - silence);
      return;
    }
    end(fail(ErrorCode::kOutcomeUnknown,
             fmt::format("{}: the stream was silent for {} ms", describe(), request_.timeout.count())));
  }

  [[nodiscard]] std::string describe() const {
    return fmt::format("{} {}{}", toString(request_.method), core_->options.url, request_.target);
  }

  const std::shared_ptr<Core> core_;
  HttpRequest request_;
  const std::shared_ptr<StreamDelivery> delivery_;
  const std::shared_ptr<BodySource> source_;
  pplx::cancellation_token_source cancel_;

  std::mutex mutex_;
  LineSplitter splitter_;
  HttpResponse head_;
  bool headSeen_ = false;
  std::string early_;
  pplx::task_completion_event<std::size_t> earlyTaken_;

  std::atomic<Clock::time_point> lastHeard_;
  std::atomic<bool> paused_ = false;

  std::mutex timerMutex_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
};

web::http::client::http_client_config Core::makeConfig(std::shared_ptr<const TlsMaterial> tls) const {
  web::http::client::http_client_config config;
  config.set_timeout(kLibraryTimeout);
  config.set_chunksize(kChunkBytes);
  // Following a redirect would send the Authorization header to any host that it names.
  config.set_max_redirects(0);
  if (!options.proxy.empty()) config.set_proxy(web::web_proxy(web::uri(options.proxy)));
  if (!tls) return config;
  const bool verify = !options.tls->insecureSkipVerify;
  config.set_validate_certificates(verify);
  const std::string& name = options.tls->serverName;
  boost::system::error_code notAnAddress;
  boost::asio::ip::make_address(name.empty() ? bareHost(options.url) : name, notAnAddress);
  config.set_tlsext_sni_enabled(notAnAddress.failed());
  config.set_ssl_context_callback(
      [tls = std::move(tls), verdict = verdict_](boost::asio::ssl::context& context) {
        if (const auto applied = tls->applyTo(context.native_handle()); !applied) {
          throw std::runtime_error(applied.error().message);
        }
        SSL_CTX_set_cert_verify_callback(context.native_handle(), TlsVerdict::verify, verdict.get());
      });
  return config;
}

pplx::task<web::http::http_response> Core::start(const HttpRequest& request,
                                                 const std::shared_ptr<BodySource>& source,
                                                 BodySink::Take take, const pplx::cancellation_token& token) {
  try {
    web::http::http_request message{std::string(toString(request.method))};
    message.set_request_uri(web::uri(request.target));
    if (request.method != Method::kGet || source->length() > 0) {
      message.set_body(Concurrency::streams::streambuf<std::uint8_t>(source).create_istream(),
                       source->length());
      message.headers().remove("Content-Type");
    }
    for (const auto& [name, value] : request.headers) message.headers().add(name, value);
    if (!message.headers().has("User-Agent")) message.headers().add("User-Agent", "trainyard");
    if (!hostHeader_.empty()) message.headers().add("Host", hostHeader_);
    message.set_response_stream(
        Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<BodySink>(std::move(take)))
            .create_ostream());
    return client()->request(message, token);
  } catch (...) {
    return pplx::task_from_exception<web::http::http_response>(std::current_exception());
  }
}

base::Error Core::errorFrom(std::exception_ptr exception, const BodySource& source) const {
  // cpprestsdk's error codes are unspecific, so its messages decide; messages that may have other causes
  // count as an unknown outcome.
  constexpr std::array<std::string_view, 4> kBeforeSending = {
      "Error resolving address", "Failed to resolve address", "Failed to connect to any resolved endpoint",
      "Error in SSL handshake"};
  base::Error error{.code = source.untouched() ? ErrorCode::kUnavailable : ErrorCode::kOutcomeUnknown,
                    .message = {}};
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const web::http::http_exception& problem) {
    error.message = problem.what();
    // Followed by the proxy's answer to CONNECT.
    const bool byProxy = error.message.starts_with("Expected a 200 response from proxy");
    if (byProxy ||
        std::find(kBeforeSending.begin(), kBeforeSending.end(), error.message) != kBeforeSending.end()) {
      error.code = ErrorCode::kUnavailable;
    }
    if (error.message == kBeforeSending.back()) {
      const char* reason = ERR_reason_error_string(static_cast<unsigned long>(problem.error_code().value()));
      const std::string verdict = verdict_->get();
      error.message = fmt::format("TLS handshake failed{}{}{}{}", reason ? ": " : "", reason ? reason : "",
                                  verdict.empty() ? "" : ": ", verdict);
    }
  } catch (const web::uri_exception& problem) {
    error = {.code = ErrorCode::kInvalid, .message = problem.what()};
  } catch (const std::exception& problem) {
    error.message = problem.what();
  } catch (...) {
    error.message = "unknown failure";
  }
  return error;
}

void Core::admit(const std::shared_ptr<SendOperation>& operation) {
  add(operation);
  const std::lock_guard lock(mutex_);
  if (active_ >= options.maxActive) {
    waiting_.push_back(operation);
  } else if (operation->takeSlot()) {
    ++active_;
    boost::asio::post(ioContext(), [operation] { operation->begin(); });
  }
}

void Core::remove(const Operation* operation, bool hadSlot) {
  const std::lock_guard lock(mutex_);
  operations_.erase(operation);
  if (!hadSlot) return;
  --active_;
  while (active_ < options.maxActive && !waiting_.empty() && !closed_) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!next->takeSlot()) continue;
    ++active_;
    boost::asio::post(ioContext(), [next = std::move(next)] { next->begin(); });
  }
}

void Core::postToLoop(base::Task task) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  executor.post([self = shared_from_this(), work = std::move(task)] {
    if (!self->closed_) work();
  });
}

void Core::close() {
  std::unordered_map<const Operation*, std::weak_ptr<Operation>> operations;
  std::deque<std::shared_ptr<SendOperation>> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    operations.swap(operations_);
    waiting.swap(waiting_);
  }
  for (const auto& [address, weak] : operations) {
    if (const auto operation = weak.lock()) operation->drop();
  }
}

class CpprestStream final : public StreamHandle {
 public:
  explicit CpprestStream(std::shared_ptr<StreamOperation> operation) : operation_(std::move(operation)) {}
  ~CpprestStream() override { operation_->drop(); }

 private:
  const std::shared_ptr<StreamOperation> operation_;
};

class CpprestClient final : public ReloadableHttpClient {
 public:
  explicit CpprestClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~CpprestClient() override { core_->close(); }

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    if (auto valid = validate(request); !valid) {
      core_->postToLoop([done = std::move(done), error = std::move(valid.error())] { done(fail(error)); });
      return;
    }
    const auto operation = std::make_shared<SendOperation>(core_, std::move(request), std::move(done));
    operation->armDeadline();
    core_->admit(operation);
  }

  std::unique_ptr<StreamHandle> stream(HttpRequest request, StreamCallbacks callbacks) override {
    auto valid = validate(request);
    const auto operation = std::make_shared<StreamOperation>(core_, std::move(request), std::move(callbacks));
    core_->add(operation);
    if (valid) {
      operation->begin();
    } else {
      operation->end(fail(std::move(valid.error())));
    }
    return std::make_unique<CpprestStream>(operation);
  }

  Result<void> reloadTls(const TlsClientConfig& tls) override {
    if (!core_->options.tls || !core_->options.url.starts_with("https")) {
      return fail(ErrorCode::kInvalid, fmt::format("{}: has no TLS to change", core_->options.url));
    }
    auto parsed = TlsMaterial::forClient(tls);
    if (!parsed) return fail(std::move(parsed.error()));
    core_->useTls(std::move(*parsed));
    return {};
  }

 private:
  // A line break in a header would start another header.
  [[nodiscard]] static Result<void> validate(const HttpRequest& request) {
    if (!request.target.starts_with('/') || !web::uri::validate(request.target)) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("request target \"{}\" is not a path and query", request.target));
    }
    for (const auto& [name, value] : request.headers) {
      const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; };
      if (name.empty() || name.find_first_of(" :\t") != std::string::npos ||
          std::any_of(name.begin(), name.end(), isControl) ||
          std::any_of(value.begin(), value.end(), isControl)) {
        return fail(ErrorCode::kInvalid,
                    fmt::format("header \"{}\" has characters that no header may have", name));
      }
    }
    return {};
  }

  const std::shared_ptr<Core> core_;
};

// Accepts "https://host:port", optionally with a final slash.
Result<void> checkUrl(const ClientOptions& options) {
  const auto invalid = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("server URL \"{}\": {}", options.url, why));
  };
  if (!web::uri::validate(options.url)) return invalid("not a URL");
  const web::uri url(options.url);
  if (url.scheme() != "http" && url.scheme() != "https") return invalid("the scheme must be http or https");
  if (url.host().empty()) return invalid("it names no host");
  if (!url.user_info().empty()) return invalid("credentials in the URL are not supported");
  if ((!url.path().empty() && url.path() != "/") || !url.query().empty() || !url.fragment().empty()) {
    return invalid("a path, query or fragment is not supported");
  }
  if (url.scheme() == "https" && !options.tls) return invalid("https needs a TLS configuration");
  return {};
}

// Accepts "http://host:port", optionally with a final slash.
Result<void> checkProxy(const std::string& proxy) {
  // The part before the @ may contain a password, and messages are logged.
  const auto at = proxy.rfind('@');
  const std::string shown = at == std::string::npos ? proxy : "..." + proxy.substr(at);
  const auto invalid = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("proxy \"{}\": {}", shown, why));
  };
  if (proxy.empty()) return {};
  if (!web::uri::validate(proxy)) return invalid("not a URL");
  const web::uri url(proxy);
  if (url.scheme() != "http") return invalid("the scheme must be http; others are not supported");
  if (url.host().empty()) return invalid("it names no host");
  if (isIpv6(url.host())) return invalid("an IPv6 address is not supported; use a name");
  if (!url.user_info().empty()) return invalid("credentials in the URL are not supported");
  if ((!url.path().empty() && url.path() != "/") || !url.query().empty() || !url.fragment().empty()) {
    return invalid("a path, query or fragment is not supported");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ReloadableHttpClient>> makeHttpClient(ClientOptions options,
                                                             base::Executor& executor) {
  try {
    if (auto valid = checkUrl(options); !valid) return fail(std::move(valid.error()));
    if (auto valid = checkProxy(options.proxy); !valid) return fail(std::move(valid.error()));
    while (options.url.ends_with('/')) options.url.pop_back();
    std::shared_ptr<const TlsMaterial> tls;
    if (options.tls && options.url.starts_with("https")) {
      auto parsed = TlsMaterial::forClient(*options.tls);
      if (!parsed) return fail(std::move(parsed.error()));
      tls = std::move(*parsed);
    }
    startThreadPoolOnce(options.threads);
    auto core = std::make_shared<Core>(std::move(options), executor, std::move(tls));
    return std::make_unique<CpprestClient>(std::move(core));
  } catch (const std::exception& problem) {
    return fail(ErrorCode::kInvalid, fmt::format("HTTP client: {}", problem.what()));
  }
}

}  // namespace trainyard::net
