#pragma once

// Internal to the server. Boost.Beast parses requests; this file has its own read and write loop over Asio.
// Beast's composed operations would be instantiated once per stream type (half a minute of compile time each)
// and offer no control over "from the first byte" timers.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/server_core.h"

namespace trainyard::net {

// One TCP connection. All functions except the constructor and those marked thread-safe run on the strand of
// its socket.
inline constexpr std::size_t kReadBytes = 64u << 10;       // less makes a 300 KB body many times slower
inline constexpr std::size_t kMaxQueuedBytes = 64u << 20;  // of a stream with a slow reader

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ServerCore& core, boost::asio::ip::tcp::socket socket,
             std::shared_ptr<boost::asio::ssl::context> tls)
      : core_(core),
        socket_(std::move(socket)),
        tlsContext_(std::move(tls)),
        peer_(peerOf(socket_)),
        readTimer_(socket_.get_executor()),
        writeTimer_(socket_.get_executor()) {
    if (tlsContext_) {
      tls_.emplace(socket_, *tlsContext_);
    } else {
      standing_ = Standing::kNewcomer;
    }
  }

  // Always queued, never run directly: an Exchange that another thread has answered may be destroyed on the
  // strand itself, and its end must not overtake the answer.
  template <typename Function>
  void dispatch(Function function) {
    boost::asio::post(
        socket_.get_executor(),
        [self = shared_from_this(), function = std::move(function)]() mutable { function(*self); });
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
    if (queued_.fetch_add(bytes) + bytes <= kMaxQueuedBytes) return true;
    gone_ = true;
    return false;
  }
  [[nodiscard]] bool gone() const { return gone_; }
  // Thread-safe. Decides which connection is closed when the server is full.
  [[nodiscard]] Standing standing() const { return standing_; }
  [[nodiscard]] std::chrono::steady_clock::time_point waitingSince() const { return waitingSince_; }
  [[nodiscard]] const boost::asio::ip::address& peer() const { return peer_; }

 private:
  enum class Phase { kHandshake, kReading, kAnswering, kClosing, kClosed };
  enum class Answer { kNone, kStreaming, kComplete };

  [[nodiscard]] static boost::asio::ip::address peerOf(const boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code gone;
    return socket.remote_endpoint(gone).address();
  }
  void onHandshake(const boost::system::error_code& error);
  void nextRequest();
  void setStanding(Standing standing);
  void read();
  void onRead(const boost::system::error_code& error, std::size_t bytes);
  void parse();
  [[nodiscard]] bool acceptHeader();
  [[nodiscard]] bool countBody();
  void forgetBody();
  [[nodiscard]] std::shared_ptr<void> handOverCount();
  void handle();
  void refuse(int status, std::string text);
  void refuse(const boost::system::error_code& error);
  void answer(const HttpResponse& response);

  void send(std::string bytes, bool last);
  void writeNext();
  void writePiece();
  void onWritten(const boost::system::error_code& error, std::size_t bytes);
  void answerSent();

  void closeGently();
  void discardUntilClosed();

  template <typename Function>
  void arm(boost::asio::steady_timer& timer, std::chrono::milliseconds span, Function onExpiry) {
    timer.expires_after(span);
    timer.async_wait([self = shared_from_this(), &timer,
                      onExpiry = std::move(onExpiry)](const boost::system::error_code& error) {
      // A handler that was queued before the timer was restarted must not act.
      if (!error && timer.expiry() <= std::chrono::steady_clock::now()) onExpiry(*self);
    });
  }

  ServerCore& core_;
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<boost::asio::ssl::context> tlsContext_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  const boost::asio::ip::address peer_;
  std::string clientCommonName_;
  Phase phase_ = Phase::kHandshake;
  std::atomic<Standing> standing_ = Standing::kUnauthenticated;
  std::atomic<std::chrono::steady_clock::time_point> waitingSince_ = std::chrono::steady_clock::now();

  boost::asio::steady_timer readTimer_;
  boost::beast::flat_buffer in_{kReadBytes};
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  bool reading_ = false;
  bool requestBegun_ = false;
  bool headerAccepted_ = false;
  std::size_t bodyBytes_ = 0;  // as counted by the server
  bool keepAlive_ = true;
  bool chunked_ = true;  // HTTP/1.1
  std::vector<char> discardBuffer_;
  std::size_t discarded_ = 0;

  std::uint64_t request_ = 0;  // the number of the request being answered
  Answer answer_ = Answer::kNone;

  boost::asio::steady_timer writeTimer_;
  std::deque<std::string> out_;
  std::string writing_;
  std::size_t written_ = 0;
  bool writeActive_ = false;
  bool lastQueued_ = false;
  std::atomic<std::size_t> queued_ = 0;
  std::atomic<bool> gone_ = false;
};

}  // namespace trainyard::net
