#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::net {

enum class Method { kGet, kPost, kPut, kPatch, kDelete };

[[nodiscard]] std::string_view toString(Method method);

using Headers = std::vector<std::pair<std::string, std::string>>;

// For ASCII only, which header names are.
[[nodiscard]] bool equalsWithoutCase(std::string_view left, std::string_view right);

// Returns the first value of the header, compared without case; empty if absent.
[[nodiscard]] std::string_view findHeader(const Headers& headers, std::string_view name);

// Returns the token of "Authorization: Bearer ..."; empty if missing or invalid.
[[nodiscard]] std::string bearerToken(const Headers& headers);

struct HttpRequest {
  Method method = Method::kGet;
  std::string target;  // path and query, already percent-encoded
  Headers headers = {};
  std::string body = {};
  // send(): from the start to the complete answer. stream(): the longest silence between two lines.
  std::chrono::milliseconds timeout{30'000};
  std::size_t maxAnswerBytes = 0;  // of send(); 0: the client's limit
};

struct HttpResponse {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

// Destroying the handle cancels the stream; no callback runs afterwards.
class StreamHandle {
 public:
  StreamHandle() = default;
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  virtual ~StreamHandle() = default;
};

struct StreamCallbacks {
  // One line of a 200 answer, without its newline.
  std::function<void(std::string line)> onLine;
  // Called once, last. Status 200: the server ended the stream cleanly. Another status: refused, with the
  // body. Error: the connection broke or was silent for too long.
  std::function<void(base::Result<HttpResponse>)> onEnd;
};

// Asynchronous HTTP to one server. All callbacks run on the executor of the implementation. send() and
// stream() are thread-safe. The client and the stream handles are destroyed on the executor's thread, or
// after it has stopped. A destroyed client drops requests in flight: no callback runs afterwards. Errors:
// kInvalid for an invalid request, kUnavailable if it surely did not reach the server, kTooLarge if the
// answer exceeds the limit, and kOutcomeUnknown otherwise. A write is sent at most once: if the server closed
// a kept connection in the meantime, the error is kOutcomeUnknown, and the caller must read before it writes
// again. A GET is repeated on another connection.
class HttpClient {
 public:
  HttpClient() = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  virtual ~HttpClient() = default;

  virtual void send(HttpRequest request, std::function<void(base::Result<HttpResponse>)> done) = 0;
  [[nodiscard]] virtual std::unique_ptr<StreamHandle> stream(HttpRequest request,
                                                             StreamCallbacks callbacks) = 0;
};

}  // namespace trainyard::net
