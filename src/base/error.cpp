#include "base/error.h"

namespace trainyard::base {

std::string_view toString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kConflict: return "Conflict";
    case ErrorCode::kAlreadyExists: return "AlreadyExists";
    case ErrorCode::kNotFound: return "NotFound";
    case ErrorCode::kExpired: return "Expired";
    case ErrorCode::kInvalid: return "Invalid";
    case ErrorCode::kForbidden: return "Forbidden";
    case ErrorCode::kUnauthorized: return "Unauthorized";
    case ErrorCode::kThrottled: return "Throttled";
    case ErrorCode::kUnavailable: return "Unavailable";
    case ErrorCode::kOutcomeUnknown: return "OutcomeUnknown";
    case ErrorCode::kTooLarge: return "TooLarge";
    case ErrorCode::kUnsupported: return "Unsupported";
    case ErrorCode::kCancelled: return "Cancelled";
    case ErrorCode::kInternal: return "Internal";
  }
  return "Unknown";
}

}  // namespace trainyard::base
