#pragma once

// Internal to the server.

#include <chrono>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace trainyard::net {

// One deadline of a connection. All calls are made on the connection's strand.
class ServerTimer {
 public:
  explicit ServerTimer(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  // Replaces an earlier deadline. `onExpiry` keeps the owner of this timer alive.
  template <typename Function>
  void arm(std::chrono::milliseconds span, Function onExpiry) {
    timer_.expires_after(span);
    timer_.async_wait([this, onExpiry = std::move(onExpiry)](const boost::system::error_code& error) {
      // A handler that was queued before the timer was restarted must not act.
      if (!error && timer_.expiry() <= std::chrono::steady_clock::now()) onExpiry();
    });
  }
  void cancel() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace trainyard::net
