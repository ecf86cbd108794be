#include "net/server_socket.h"

#include "net/server_tls.h"

namespace trainyard::net {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kDiscardBytes = 16u << 10;
constexpr std::size_t kMaxDiscardedBytes = 16u << 20;

boost::asio::ip::address peerOf(const tcp::socket& socket) {
  error_code gone;
  return socket.remote_endpoint(gone).address();
}

}  // namespace

ServerSocket::ServerSocket(tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> tls)
    : socket_(std::move(socket)), tlsContext_(std::move(tls)), peer_(peerOf(socket_)) {
  if (tlsContext_) tls_.emplace(socket_, *tlsContext_);
}

void ServerSocket::disableDelay() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
}

void ServerSocket::handshakeSucceeded() { clientCommonName_ = commonNameOf(tls_->native_handle()); }

void ServerSocket::discardUntilClosed(std::function<void()> onEnd) {
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  if (discarded_ > kMaxDiscardedBytes) {
    onEnd();
    return;
  }
  discardBuffer_.resize(kDiscardBytes);
  socket_.async_read_some(
      boost::asio::buffer(discardBuffer_),
      [this, onEnd = std::move(onEnd)](const error_code& error, std::size_t bytes) mutable {
        discarded_ += bytes;
        if (error) {
          onEnd();
        } else {
          discardUntilClosed(std::move(onEnd));
        }
      });
}

void ServerSocket::cancel() {
  error_code ignored;
  socket_.cancel(ignored);
}

void ServerSocket::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace trainyard::net
