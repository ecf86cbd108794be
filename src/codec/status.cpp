#include "codec/status.h"

#include <fmt/format.h>

#include "base/cut_text.h"
#include "codec/json_value.h"

namespace trainyard::codec {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxQuotedBytes = 300;
// The limit of the API server's message. It repeats the request, and the number of its complaints is not
// limited; the rest of a long message is of no use.
constexpr std::size_t kMaxSaidBytes = 8'192;
constexpr std::size_t kMaxCauses = 16;

std::string text(JsonValue value) { return std::string(value.string().value_or("")); }

std::vector<StatusCause> readCauses(JsonValue details) {
  std::vector<StatusCause> causes;
  details.find("causes").forEachElement([&](JsonValue entry) {
    if (causes.size() == kMaxCauses) return;
    causes.push_back({text(entry.find("field")), text(entry.find("reason")), text(entry.find("message"))});
  });
  return causes;
}

// Every 5xx leaves the outcome unknown, including 503: etcd returns it if it loses its leader during a write.
ErrorCode codeOf(int status, std::string_view reason) {
  switch (status) {
    case 400:
    case 413:
    case 414:
    case 422: return ErrorCode::kInvalid;
    case 401: return ErrorCode::kUnauthorized;
    case 403: return ErrorCode::kForbidden;
    case 404: return ErrorCode::kNotFound;
    case 405:
    case 406:
    case 415:
    case 501: return ErrorCode::kUnsupported;
    case 409: return reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
    case 410: return ErrorCode::kExpired;
    case 429: return ErrorCode::kThrottled;
    default: break;
  }
  // The API server marks an expired page token or resourceVersion by its reason; the status code varies.
  if (reason == "Expired" || reason == "Gone") return ErrorCode::kExpired;
  if (status >= 500) return ErrorCode::kOutcomeUnknown;
  return ErrorCode::kInternal;
}

// Matches etcd's error for an object beyond its limit, and its client's error for a request beyond its own.
bool isTooLarge(std::string_view message) {
  return message.find("etcdserver: request is too large") != std::string_view::npos ||
         message.find("trying to send message larger than max") != std::string_view::npos;
}

std::string shortened(std::string_view body) {
  if (body.size() <= kMaxQuotedBytes) return std::string(body);
  return fmt::format("{}… ({} bytes)", base::cutText(body, kMaxQuotedBytes), body.size());
}

}  // namespace

base::Result<Status> decodeStatus(std::string_view json) {
  const auto document = JsonDocument::parse(json);
  if (!document) return base::fail(document.error());
  const JsonValue root = document->root();
  if (text(root.find("kind")) != "Status") return base::fail(ErrorCode::kInvalid, "not a Status object");
  const JsonValue details = root.find("details");
  Status status{.reason = text(root.find("reason")),
                .message = text(root.find("message")),
                .causes = readCauses(details)};
  const std::int64_t code = root.find("code").integer().value_or(0);
  if (code > 0 && code < 1000) status.code = static_cast<int>(code);
  const std::int64_t seconds = details.find("retryAfterSeconds").integer().value_or(0);
  if (seconds > 0 && seconds < 86'400) status.retryAfter = std::chrono::seconds(seconds);
  return status;
}

base::Error errorFromStatus(const Status& status, std::string_view what) {
  std::string message = fmt::format("{}: {} {}", what, status.code, status.reason);
  if (!status.message.empty()) message += ": " + status.message;
  // Most messages include their causes. Missing ones are appended, because a user looks for the name of the
  // field.
  for (const StatusCause& cause : status.causes) {
    if (cause.field.empty() || status.message.find(cause.field) != std::string::npos) continue;
    message += fmt::format("; {}: {}", cause.field, cause.message.empty() ? cause.reason : cause.message);
  }
  if (message.size() > kMaxSaidBytes) message = fmt::format("{}…", base::cutText(message, kMaxSaidBytes));
  // The API server answers this error with 500, but its outcome is known: nothing was written.
  const ErrorCode code =
      isTooLarge(status.message) ? ErrorCode::kInvalid : codeOf(status.code, status.reason);
  base::Error error{code, std::move(message), status.reason};
  if (error.code == ErrorCode::kThrottled) error.retryAfter = status.retryAfter;
  return error;
}

base::Error errorFromAnswer(int httpStatus, std::string_view body, std::string_view what) {
  if (auto status = decodeStatus(body)) {
    status->code = httpStatus;
    return errorFromStatus(*status, what);
  }
  return errorFromStatus(Status{.code = httpStatus, .reason = "", .message = shortened(body)}, what);
}

bool isTooLargeError(const base::Error& error) {
  return error.code == ErrorCode::kInvalid && isTooLarge(error.message);
}

std::string_view serverMessage(const base::Error& error) {
  const std::string_view whole = error.message;
  if (error.reason.empty()) return whole;
  const std::string marker = fmt::format(" {}: ", error.reason);
  const std::size_t at = whole.find(marker);
  return at == std::string_view::npos ? whole : whole.substr(at + marker.size());
}

}  // namespace trainyard::codec
