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
  // Followed by at least kBodyPadding readable bytes (capacity), which simdjson requires.
  std::string body = {};
  // While this pointer or a copy lives, ServerLimits::maxBodiesBytes counts the body: a handler that keeps
  // the body must keep the pointer as well.
  std::shared_ptr<void> countsBody = nullptr;
  std::string clientCommonName = {};  // of the verified client certificate, empty without one
  std::string clientAddress = {};     // without its port

  [[nodiscard]] std::string_view path() const;   // the target without its query
  [[nodiscard]] std::string_view query() const;  // the part after '?'; empty if none
};
inline constexpr std::size_t kBodyPadding = 64;

// Answers one request: either reply() once, or startStream(), any number of write() calls, then end().
// Thread-safe; calls after the client has disconnected are ignored.
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
  // A further connection replaces the one that has waited longest without a complete request; those that
  // never completed one go first. If no client certificate is required, the address with the most connections
  // loses one first. If all connections are being answered, the new one is closed at once.
  std::size_t maxConnections = 512;
  std::size_t maxHeaderBytes = 16u << 10;
  std::size_t maxBodyBytes = 8u << 20;  // 413 beyond
  // The limit of all bodies that are being received or answered. Beyond it, bodies of more than 256 KiB are
  // refused with 503. Slow clients with large announced bodies then neither exhaust the memory nor block
  // small requests.
  std::size_t maxBodiesBytes = 64u << 20;
  std::chrono::milliseconds readTimeout{5'000};   // from the first to the last byte of a request
  std::chrono::milliseconds idleTimeout{90'000};  // between two requests of a connection
  std::chrono::milliseconds writeTimeout{10'000};
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port, see HttpServer::port()
  std::optional<TlsServerConfig> tls = std::nullopt;
  std::size_t threads = 2;
  ServerLimits limits = {};
};

// An HTTP/1.1 server over Boost.Beast. The destructor closes every connection and joins the threads.
class HttpServer {
 public:
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // New connections use the new certificate and CA; open ones continue. kInvalid if the PEM texts do not
  // match.
  [[nodiscard]] virtual base::Result<void> reloadTls(const TlsServerConfig& tls) = 0;
};

// The handler runs on the server's threads and must not block. kUnavailable if the port cannot be bound,
// kInvalid for unusable TLS material; the message names the reason.
[[nodiscard]] base::Result<std::unique_ptr<HttpServer>> startHttpServer(ServerOptions options,
                                                                        ServerHandler handler);

}  // namespace trainyard::net
