#pragma once

// Internal to the server: the state that its connections share.

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

// Closed before the server is destroyed, so that an Exchange kept elsewhere never accesses a dead server.
struct Gate {
  std::shared_mutex mutex;
  bool open = true;
};

// The state that the connections share.
struct ServerCore {
  ServerCore(const ServerOptions& options, ServerHandler serverHandler)
      : io(static_cast<int>(std::max<std::size_t>(options.threads, 1))),
        limits(options.limits),
        anonymous(!options.tls || options.tls->clientCaPem.empty()),
        handler(std::move(serverHandler)) {}

  // Returns false if the server is full and no connection can be closed for the new one.
  [[nodiscard]] bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> connections();
  // Returns true if no connection is left within `limit`.
  bool waitUntilEmpty(std::chrono::milliseconds limit);

  boost::asio::io_context io;
  const ServerLimits limits;
  const bool anonymous;  // no client certificate is required, so one answered request earns no trust
  const ServerHandler handler;
  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::atomic<bool> stopping = false;
  // Shared with handlers that still hold a body after the server is gone.
  const std::shared_ptr<std::atomic<std::size_t>> bodiesBytes = std::make_shared<std::atomic<std::size_t>>(0);

  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> open;
  std::shared_ptr<boost::asio::ssl::context> tls;

 private:
  // Removes a connection from `open`; requires the mutex. Null if all of them are being answered.
  [[nodiscard]] std::shared_ptr<Connection> takeLeastWanted();
};

}  // namespace trainyard::net
