#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::codec {

// One entry of `details.causes`: which field is wrong, and why.
struct StatusCause {
  std::string field;
  std::string reason;
  std::string message;
};

// metav1.Status: what the API server says when it refuses.
struct Status {
  int code = 0;
  std::string reason;
  std::string message;
  std::vector<StatusCause> causes = {};
  std::optional<std::chrono::seconds> retryAfter = std::nullopt;
};

// kInvalid when the text is no Status object.
[[nodiscard]] base::Result<Status> decodeStatus(std::string_view json);

// `what` names the request in the message: "PATCH /api/v1/namespaces/ml/pods/bert-worker-0".
[[nodiscard]] base::Error errorFromStatus(const Status& status, std::string_view what);

// The error of an HTTP answer other than 2xx. A body that is no Status (a proxy's page) is quoted, shortened.
[[nodiscard]] base::Error errorFromAnswer(int httpStatus, std::string_view body, std::string_view what);

// What the API server itself said, of such an error: without the request, code and reason in front of it,
// which are for logs where the user made no request. The whole message of any other error.
[[nodiscard]] std::string_view saidBy(const base::Error& error);

// Whether it says that the object would be larger than etcd stores: nothing was written, nor will be until it
// is smaller.
[[nodiscard]] bool saysTooLarge(const base::Error& error);

}  // namespace trainyard::codec
