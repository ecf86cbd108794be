#pragma once

// Internal to the server. Boost.Beast parses requests; ServerSocket reads them. Beast's composed operations
// would be instantiated once per stream type (half a minute of compile time each) and offer no control over
// "from the first byte" timers.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/server.h"

namespace trainyard::net {

// What a connection does after it has parsed its input.
struct ReadStep {
  enum class Kind { kRead, kSendContinue, kHandle, kRefuse };  // kSendContinue: and read afterwards
  Kind kind = Kind::kRead;
  int status = 0;         // of kRefuse
  std::string text = {};  // of kRefuse
};

// A complete request.
struct ReceivedRequest {
  ServerRequest request;
  bool keepAlive = true;
  bool mayChunk = true;  // HTTP/1.1
};

// Parses the requests of one connection, and counts their bodies.
class RequestReader {
 public:
  // `bodiesBytes`: of all connections.
  RequestReader(const ServerLimits& limits, std::shared_ptr<std::atomic<std::size_t>> bodiesBytes)
      : limits_(limits), bodiesBytes_(std::move(bodiesBytes)) {}

  void nextRequest();
  // Where to read to; `few`: an idle connection must not hold more memory than it needs.
  [[nodiscard]] boost::asio::mutable_buffer space(bool few);
  void received(std::size_t bytes) { in_.commit(bytes); }
  [[nodiscard]] bool hasInput() const { return in_.size() > 0; }
  // Returns true for the first call of a request.
  [[nodiscard]] bool begins() { return !std::exchange(begun_, true); }
  [[nodiscard]] bool hasBegun() const { return begun_; }

  [[nodiscard]] ReadStep parse();
  // The request, after kHandle.
  [[nodiscard]] ReceivedRequest take();
  // The request is not needed.
  void forget();
  // Releases memory; only between two reads.
  void shrink() { in_.shrink_to_fit(); }

 private:
  [[nodiscard]] std::optional<ReadStep> acceptHeader();
  [[nodiscard]] bool countBody();
  [[nodiscard]] ReadStep refusalFor(const boost::system::error_code& error) const;
  [[nodiscard]] std::shared_ptr<void> handOverCount();

  static constexpr std::size_t kReadBytes = 64u << 10;  // less makes a 300 KB body many times slower

  const ServerLimits& limits_;
  const std::shared_ptr<std::atomic<std::size_t>> bodiesBytes_;
  boost::beast::flat_buffer in_{kReadBytes};
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  bool begun_ = false;
  bool headerAccepted_ = false;
  std::size_t bodyBytes_ = 0;  // as counted by the server
};

}  // namespace trainyard::net
