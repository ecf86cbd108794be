#pragma once

// Internal to the server.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>

#include "net/server_answer.h"
#include "net/server_core.h"
#include "net/server_request_reader.h"
#include "net/server_socket.h"
#include "net/server_standing.h"
#include "net/server_timer.h"
#include "net/server_writer.h"

namespace trainyard::net {

// One TCP connection. All functions except the constructor and those marked thread-safe run on the strand of
// its socket.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ServerCore& core, boost::asio::ip::tcp::socket socket,
             std::shared_ptr<boost::asio::ssl::context> tls);

  // Always queued, never run directly: an Exchange that another thread has answered may be destroyed on the
  // strand itself, and its end must not overtake the answer.
  template <typename Function>
  void dispatch(Function function) {
    boost::asio::post(socket_.executor(), [self = shared_from_this(),
                                           function = std::move(function)]() mutable { function(*self); });
  }

  void start();
  void close();
  // Lets an answer in progress finish; otherwise closes the connection.
  void closeWhenIdle();

  // The actions of an Exchange; ignored unless `request` is the one being answered.
  void reply(std::uint64_t request, const HttpResponse& response);
  void startStream(std::uint64_t request, const HttpResponse& head);
  void write(std::uint64_t request, const std::string& chunk);
  void end(std::uint64_t request);
  // The handler released its Exchange, or failed, before the answer was complete.
  void abandon(std::uint64_t request);

  // Thread-safe. Returns false if the queue of the connection exceeds its limit; the connection is then lost.
  [[nodiscard]] bool reserve(std::size_t bytes) {
    if (writer_.reserve(bytes)) return true;
    gone_ = true;
    return false;
  }
  [[nodiscard]] bool gone() const { return gone_; }
  // Thread-safe. Decides which connection is closed when the server is full.
  [[nodiscard]] const ConnectionStanding& standing() const { return standing_; }
  [[nodiscard]] const boost::asio::ip::address& peer() const { return socket_.peer(); }

 private:
  enum class Phase { kHandshake, kReading, kAnswering, kClosing, kClosed };

  void onHandshake(const boost::system::error_code& error);
  void nextRequest();
  void read();
  void onRead(const boost::system::error_code& error, std::size_t bytes);
  void parse();
  void handle();
  void refuse(int status, std::string text);
  [[nodiscard]] bool isAnswering(std::uint64_t request) const {
    return phase_ == Phase::kAnswering && request == answer_.request();
  }
  void answer(const HttpResponse& response);
  void onAnswerSent();
  void closeGently();

  ServerCore& core_;
  ServerSocket socket_;
  Phase phase_ = Phase::kHandshake;
  ConnectionStanding standing_;
  ServerTimer readTimer_;
  RequestReader reader_;
  bool reading_ = false;
  ServerAnswer answer_;
  ServerWriter writer_;
  std::atomic<bool> gone_ = false;
};

}  // namespace trainyard::net
