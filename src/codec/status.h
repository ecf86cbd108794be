#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::codec {

// One entry of `details.causes`: the invalid field and the reason.
struct StatusCause {
  std::string field;
  std::string reason;
  std::string message;
};

// metav1.Status: the API server's answer to a failed request.
struct Status {
  int code = 0;
  std::string reason;
  std::string message;
  std::vector<StatusCause> causes = {};
  std::optional<std::chrono::seconds> retryAfter = std::nullopt;
};

// kInvalid if the text is not a Status object.
[[nodiscard]] base::Result<Status> decodeStatus(std::string_view json);

// `what` names the request in the message: "PATCH /api/v1/namespaces/ml/pods/bert-worker-0".
[[nodiscard]] base::Error errorFromStatus(const Status& status, std::string_view what);

// The error of an HTTP answer other than 2xx. A body that is no Status (a proxy's page) is quoted, shortened.
[[nodiscard]] base::Error errorFromAnswer(int httpStatus, std::string_view body, std::string_view what);

// Returns the API server's own text of such an error, without request, code and reason before it; those are
// for logs, because users did not make the request. Returns the whole message of any other error.
[[nodiscard]] std::string_view serverMessage(const base::Error& error);

// Returns true if the object exceeds the size limit of etcd: nothing was written, and a retry fails until it
// is smaller.
[[nodiscard]] bool isTooLargeError(const base::Error& error);

}  // namespace trainyard::codec
