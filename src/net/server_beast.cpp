// HTTP/1.1 server: listening, accepting and closing. Connections are handled in server_connection.h.
#include "net/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>

#include "net/server_connection.h"
#include "net/server_tls.h"

namespace trainyard::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::ErrorCode;
using base::fail;
using base::Result;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr milliseconds kDrainTimeout{500};
constexpr milliseconds kAcceptPause{100};

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
    auto context = makeServerTlsContext(tls);
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
        continue;  // e.g. out of memory for one connection; others continue
      }
    }
  }

  void accept() {
    if (core_.stopping) return;
    acceptor_.async_accept(asio::make_strand(core_.io), [this](const error_code& error, tcp::socket socket) {
      if (core_.stopping) return;
      if (error) {
        // Probably out of file descriptors: an immediate retry would only use CPU time.
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
      tls = core_.tls;
    }
    const auto connection = std::make_shared<Connection>(core_, std::move(socket), std::move(tls));
    if (core_.add(connection)) connection->dispatch([](Connection& fresh) { fresh.start(); });
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
    auto context = makeServerTlsContext(*options.tls);
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
