#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace trainyard::base {

// The code determines the caller's next step; the message explains to a person what happened and where.
enum class ErrorCode {
  kConflict,        // the object has changed: read it again, decide again
  kAlreadyExists,   // the name exists already: compare owners, adopt or report
  kNotFound,        // the object does not exist: a delete is done, drop other work
  kExpired,         // the resourceVersion or page token is too old: list again
  kInvalid,         // the request itself is wrong (400, 422): never retry, report to the user
  kForbidden,       // quota, RBAC or a terminating namespace: back off, report
  kUnauthorized,    // credentials were refused: reload them once
  kThrottled,       // the server requires a wait (429): retryAfter is its length
  kUnavailable,     // the request was not carried out: retry with back-off
  kOutcomeUnknown,  // time-out, reset, 5xx after sending: read before repeating a write
  kTooLarge,        // the answer exceeds the caller's limit: ask for less at once
  kUnsupported,     // 405, 406, 415: the server does not support this
  kCancelled,       // this process gave up (shut-down, lost lease)
  kInternal,        // a bug on either side: report
};

[[nodiscard]] std::string_view toString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  // `Status.reason` of a Kubernetes response ("AlreadyExists"), empty elsewhere.
  std::string reason = {};
  // Set for kThrottled if the server sent a delay.
  std::optional<std::chrono::milliseconds> retryAfter = std::nullopt;

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace trainyard::base
