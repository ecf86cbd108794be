#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http.h"
#include "net/tls.h"

namespace trainyard::net {

struct ServerRequest {
  Method method = Method::kGet;
  std::string target;
  Headers headers = {};
  // Followed by at least kBodyPadding readable bytes (capacity), as simdjson wants.
  std::string body = {};
  // While it or a copy lives, the body is among those that ServerLimits::maxBodiesBytes counts: who keeps the
  // one for longer keeps the other.
  std::shared_ptr<void> countsBody = nullptr;
  std::string clientCommonName = {};  // of the verified client certificate, empty without one
  std::string clientAddress = {};     // without its port

  [[nodiscard]] std::string_view path() const;   // target without its query
  [[nodiscard]] std::string_view query() const;  // after '?', empty when none
};
inline constexpr std::size_t kBodyPadding = 64;

// Answers one request: either reply() once, or startStream(), any number of write(), then end().
// Safe from any thread; calls after the client left are ignored.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  virtual void reply(HttpResponse response) = 0;
  virtual void startStream(HttpResponse head) = 0;
  virtual void write(std::string chunk) = 0;
  virtual void end() = 0;
  [[nodiscard]] virtual bool clientGone() const = 0;
};

using ServerHandler = std::function<void(ServerRequest, std::shared_ptr<Exchange>)>;

struct ServerLimits {
  // At most so many. A further one takes the place of the one that has waited longest without a whole
  // request, those first that never sent one; where no client certificate is asked for, first of all one of
  // the address that holds the most. Only when all are being answered is it closed at once.
  std::size_t maxConnections = 512;
  std::size_t maxHeaderBytes = 16u << 10;
  std::size_t maxBodyBytes = 8u << 20;  // 413 beyond
  // Of all bodies that are arriving or being answered. Beyond, those of more than 256 KiB are refused with
  // 503, so that whoever announces much and sends it slowly cannot take all memory, nor keep small requests
  // out.
  std::size_t maxBodiesBytes = 64u << 20;
  std::chrono::milliseconds readTimeout{5'000};   // from the first byte of a request to its last
  std::chrono::milliseconds idleTimeout{90'000};  // between two requests of a connection
  std::chrono::milliseconds writeTimeout{10'000};
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one, see HttpServer::port()
  std::optional<TlsServerConfig> tls = std::nullopt;
  std::size_t threads = 2;
  ServerLimits limits = {};
};

// HTTP/1.1 server over Boost.Beast. Destroying it closes every connection and joins the threads.
class HttpServer {
 public:
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // New connections get the new certificate and CA; open ones go on. kInvalid when the PEM texts do not fit
  // together.
  [[nodiscard]] virtual base::Result<void> reloadTls(const TlsServerConfig& tls) = 0;
};

// The handler runs on the server's threads and must not block. kUnavailable when the port cannot be bound,
// kInvalid for unusable TLS material; the message says which.
[[nodiscard]] base::Result<std::unique_ptr<HttpServer>> startHttpServer(ServerOptions options,
                                                                        ServerHandler handler);

}  // namespace trainyard::net
