#pragma once

// Internal to the server: what its connections share.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "net/server.h"

namespace trainyard::net {

class Connection;

// Order in which connections make room for new ones; kAnswered never do.
enum class Standing {
  kStranger,  // before the end of its TLS handshake
  kNewcomer,  // has not sent a whole request yet, or is being closed
  kRegular,   // between two requests, or sending its next one
  kAnswered,  // a handler has its request, or its answer is a stream
};

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
        anonymous(!options.tls || options.tls->clientCaPem.empty()),
        handler(std::move(serverHandler)) {}

  // False when there is no room: nobody can be sent away for it.
  [[nodiscard]] bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> connections();
  // True when none is left within `limit`.
  bool waitUntilEmpty(std::chrono::milliseconds limit);

  boost::asio::io_context io;
  const ServerLimits limits;
  const bool anonymous;  // nobody has to show a certificate: to have been answered once says nothing
  const ServerHandler handler;
  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::atomic<bool> stopping = false;
  // Shared with handlers that still have a body when the server is gone.
  const std::shared_ptr<std::atomic<std::size_t>> bodiesBytes = std::make_shared<std::atomic<std::size_t>>(0);

  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> open;
  std::shared_ptr<boost::asio::ssl::context> tls;

 private:
  // Out of `open`; to be called with the mutex held. Null when all are being answered.
  [[nodiscard]] std::shared_ptr<Connection> takeLeastWanted();
};

}  // namespace trainyard::net
