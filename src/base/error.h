#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace trainyard::base {

// The code tells the caller what to do next; the message tells a person what happened and where.
enum class ErrorCode {
  kConflict,        // the object moved on: read it again, decide again
  kAlreadyExists,   // a create met the same name: compare owners, adopt or report
  kNotFound,        // gone: treat a delete as done, drop the work for anything else
  kExpired,         // the resourceVersion or page token is too old: list again
  kInvalid,         // the request itself is wrong (400, 422): never retry, report to the user
  kForbidden,       // quota, RBAC or a terminating namespace: back off, report
  kUnauthorized,    // credentials were refused: reload them once
  kThrottled,       // the server asks us to wait (429): retryAfter says how long
  kUnavailable,     // the request was not carried out: retry with back-off
  kOutcomeUnknown,  // time-out, reset, 5xx after sending: read before repeating a write
  kTooLarge,        // the answer is larger than the caller takes: ask for less at once
  kUnsupported,     // 405, 406, 415: the server does not offer this
  kCancelled,       // we gave up ourselves (shut-down, lost lease)
  kInternal,        // a bug of ours or of the other side: report
};

[[nodiscard]] std::string_view toString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  // `Status.reason` of a Kubernetes answer ("AlreadyExists"), empty elsewhere.
  std::string reason = {};
  // Set for kThrottled when the server named a delay.
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
