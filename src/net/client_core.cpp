#include "net/client_core.h"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "net/client_send.h"
#include "net/client_threads.h"

namespace trainyard::net {

ClientCore::ClientCore(ClientOptions clientOptions, base::Executor& loop,
                       std::shared_ptr<const TlsMaterial> tls)
    : options(std::move(clientOptions)), executor(loop), transport(options, std::move(tls)) {}

void ClientCore::add(const std::shared_ptr<ClientOperation>& operation) {
  const std::lock_guard lock(mutex_);
  operations_.emplace(operation.get(), operation);
}

void ClientCore::admit(const std::shared_ptr<SendOperation>& operation) {
  add(operation);
  const std::lock_guard lock(mutex_);
  if (active_ >= options.maxActive) {
    waiting_.push_back(operation);
  } else if (operation->takeSlot()) {
    ++active_;
    boost::asio::post(clientIo(), [operation] { operation->begin(); });
  }
}

void ClientCore::remove(const ClientOperation* operation, bool hadSlot) {
  const std::lock_guard lock(mutex_);
  operations_.erase(operation);
  if (!hadSlot) return;
  --active_;
  while (active_ < options.maxActive && !waiting_.empty() && !closed_) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!next->takeSlot()) continue;
    ++active_;
    boost::asio::post(clientIo(), [next = std::move(next)] { next->begin(); });
  }
}

void ClientCore::postToLoop(base::Task task) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  executor.post([self = shared_from_this(), work = std::move(task)] {
    if (!self->closed_) work();
  });
}

void ClientCore::close() {
  std::unordered_map<const ClientOperation*, std::weak_ptr<ClientOperation>> operations;
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

std::string ClientCore::describe(const HttpRequest& request) const {
  return fmt::format("{} {}{}", toString(request.method), options.url, request.target);
}

}  // namespace trainyard::net
