#pragma once

// Internal to the server.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

namespace trainyard::net {

// The socket of a connection, with or without TLS, and the identity of its client. Handlers of operations
// keep the owner of this object alive and run on the strand of the socket.
class ServerSocket {
 public:
  // Without TLS if `tls` is null.
  ServerSocket(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> tls);

  [[nodiscard]] auto executor() { return socket_.get_executor(); }
  [[nodiscard]] bool usesTls() const { return tls_.has_value(); }
  [[nodiscard]] const boost::asio::ip::address& peer() const { return peer_; }
  // Of the verified certificate; empty before the handshake, or without one.
  [[nodiscard]] const std::string& clientCommonName() const { return clientCommonName_; }

  void disableDelay();
  template <typename Done>
  void handshake(Done done) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::move(done));
  }
  void handshakeSucceeded();
  // Further operations use the plain socket.
  void dropTls() { tls_.reset(); }

  template <typename Done>
  void readSome(const boost::asio::mutable_buffer& space, Done done) {
    if (tls_) {
      tls_->async_read_some(space, std::move(done));
    } else {
      socket_.async_read_some(space, std::move(done));
    }
  }
  template <typename Done>
  void writeSome(const boost::asio::const_buffer& piece, Done done) {
    if (tls_) {
      tls_->async_write_some(piece, std::move(done));
    } else {
      socket_.async_write_some(piece, std::move(done));
    }
  }

  template <typename Done>
  void shutdownTls(Done done) {
    tls_->async_shutdown(std::move(done));
  }
  // Shuts down sending, then reads below TLS and drops what the client still sends. `onEnd`: the client has
  // closed the connection, or sent too much.
  void discardUntilClosed(std::function<void()> onEnd);

  // Ends all operations in progress.
  void cancel();
  void close();

 private:
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<boost::asio::ssl::context> tlsContext_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  const boost::asio::ip::address peer_;
  std::string clientCommonName_;
  std::vector<char> discardBuffer_;
  std::size_t discarded_ = 0;
};

}  // namespace trainyard::net
