#pragma once

#include <string_view>

namespace trainyard::codec {

// As defined by Kubernetes: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or
// digit. The value of a label may also be empty; a name may not.
[[nodiscard]] bool isLabelName(std::string_view text);
// A name, or a DNS subdomain, a slash and a name: "nvidia.com/gpu.product".
[[nodiscard]] bool isLabelKey(std::string_view text);

}  // namespace trainyard::codec
