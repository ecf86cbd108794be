#pragma once

#include <string>
#include <string_view>

#include "kube/api_client.h"

namespace trainyard::kube {

// Returns `prefix`, then `path` and `query`. All characters that are not unreserved (RFC 3986) are escaped;
// slashes of the path stay.
[[nodiscard]] std::string encodeTarget(std::string_view prefix, std::string_view path, const Query& query);

}  // namespace trainyard::kube
