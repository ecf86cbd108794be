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

// ASCII only, as header names are.
[[nodiscard]] bool equalsWithoutCase(std::string_view left, std::string_view right);

// First value of the header, compared without case; empty when absent.
[[nodiscard]] std::string_view findHeader(const Headers& headers, std::string_view name);

// The token of "Authorization: Bearer ..."; empty without one, or where it is none.
[[nodiscard]] std::string bearerToken(const Headers& headers);

struct HttpRequest {
  Method method = Method::kGet;
  std::string target;  // path and query, already percent-encoded
  Headers headers = {};
  std::string body = {};
  // For send(): from start to the whole answer. For stream(): longest silence between two lines.
  std::chrono::milliseconds timeout{30'000};
  std::size_t maxAnswerBytes = 0;  // of send(); 0: as much as the client takes
};

struct HttpResponse {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

// Destroying the handle cancels the stream; no callback runs after that.
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

// Asynchronous HTTP towards one server. All callbacks run on the executor that the implementation was given.
// send() and stream() may be called from any thread; the client and the stream handles are destroyed on the
// executor's thread, or when it does not run any more. A destroyed client drops what is under way: no
// callback runs after that. Errors: kInvalid for a request that cannot be sent as it is, kUnavailable when it
// surely did not reach the server, kTooLarge when the answer is larger than allowed, kOutcomeUnknown
// otherwise. A write is sent at most once: when the server closed a kept connection meanwhile, it is
// kOutcomeUnknown, and the caller looks before it writes again. A GET is repeated on another connection.
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
