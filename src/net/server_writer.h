#pragma once

// Internal to the server.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/system/error_code.hpp>

#include "net/server_socket.h"
#include "net/server_timer.h"

namespace trainyard::net {

// Writes what a connection sends, in order. All functions run on the strand of the socket, except those that
// are marked thread-safe.
class ServerWriter {
 public:
  struct Callbacks {
    std::function<void()> onFailed;    // the client is gone, or reads too slowly
    std::function<void()> onLastSent;  // all is sent, and the last piece was marked so
  };
  // `timeout`: for each piece of kWriteBytes.
  ServerWriter(ServerSocket& socket, std::chrono::milliseconds timeout, Callbacks callbacks)
      : socket_(socket), timer_(socket.executor()), timeout_(timeout), callbacks_(std::move(callbacks)) {}

  // `owner`: of this writer; stays alive until the bytes are written.
  void send(const std::shared_ptr<void>& owner, std::string bytes, bool last);
  // No callback runs afterwards.
  void stop();

  // Thread-safe. Counts bytes that are about to be sent. Returns false if the queue exceeds its limit; the
  // connection is then lost.
  [[nodiscard]] bool reserve(std::size_t bytes) {
    return queued_.fetch_add(bytes) + bytes <= kMaxQueuedBytes;
  }
  // Reverts reserve(): send() counts the bytes again, framed.
  void unreserve(std::size_t bytes) { queued_ -= bytes; }

 private:
  void writeNext(const std::shared_ptr<void>& owner);
  void writePiece(const std::shared_ptr<void>& owner);
  void onWritten(const std::shared_ptr<void>& owner, const boost::system::error_code& error,
                 std::size_t bytes);

  static constexpr std::size_t kMaxQueuedBytes = 64u << 20;  // of a stream with a slow reader

  ServerSocket& socket_;
  ServerTimer timer_;
  const std::chrono::milliseconds timeout_;
  const Callbacks callbacks_;
  std::deque<std::string> out_;
  std::string writing_;
  std::size_t written_ = 0;
  bool active_ = false;
  bool lastQueued_ = false;
  bool stopped_ = false;
  std::atomic<std::size_t> queued_ = 0;
};

}  // namespace trainyard::net
