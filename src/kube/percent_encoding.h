#pragma once

#include <string>
#include <string_view>

#include "kube/api_client.h"

namespace trainyard::kube {

// `prefix`, then `path` and `query` with everything escaped that is not an unreserved character (RFC 3986);
// slashes of the path stay.
[[nodiscard]] std::string encodeTarget(std::string_view prefix, std::string_view path, const Query& query);

}  // namespace trainyard::kube
