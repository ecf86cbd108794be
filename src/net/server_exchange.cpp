#include "net/server_exchange.h"

#include <utility>

#include "net/server_connection.h"

namespace trainyard::net {
namespace {

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

}  // namespace

std::shared_ptr<Exchange> makeExchange(std::shared_ptr<Gate> gate, std::weak_ptr<Connection> connection,
                                       std::uint64_t request) {
  return std::make_shared<ServerExchange>(std::move(gate), std::move(connection), request);
}

}  // namespace trainyard::net
