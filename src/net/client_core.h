#pragma once

// Internal to the client: the requests in flight.

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/executor.h"
#include "net/client.h"
#include "net/client_transport.h"

namespace trainyard::net {

// One request in flight. Owned by its handle or queue, and by cpprestsdk's continuations.
class ClientOperation {
 public:
  ClientOperation() = default;
  ClientOperation(const ClientOperation&) = delete;
  ClientOperation& operator=(const ClientOperation&) = delete;
  virtual ~ClientOperation() = default;
  // Cancels without any callback.
  virtual void drop() = 0;
};

class SendOperation;

// The state shared by a client and its operations. It outlives the client until the last continuation.
class ClientCore : public std::enable_shared_from_this<ClientCore> {
 public:
  ClientCore(ClientOptions clientOptions, base::Executor& loop, std::shared_ptr<const TlsMaterial> tls);

  // Starts the request now or in its turn.
  void admit(const std::shared_ptr<SendOperation>& operation);
  void add(const std::shared_ptr<ClientOperation>& operation);
  // `hadSlot`: the operation counted as in flight, and the next one may start.
  void remove(const ClientOperation* operation, bool hadSlot);
  // Runs `task` on the loop, unless the client is gone by then.
  void postToLoop(base::Task task);
  // Called on the loop's thread: no callback runs after it.
  void close();

  // "GET https://host/path", for messages.
  [[nodiscard]] std::string describe(const HttpRequest& request) const;

  const ClientOptions options;
  base::Executor& executor;
  ClientTransport transport;

 private:
  std::mutex mutex_;
  std::unordered_map<const ClientOperation*, std::weak_ptr<ClientOperation>> operations_;
  std::deque<std::shared_ptr<SendOperation>> waiting_;
  std::size_t active_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace trainyard::net
