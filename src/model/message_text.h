#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Helpers for messages.
namespace trainyard::model {

// "1 node", "3 nodes".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view singular);
// "a", "a and b", "a, b and c".
[[nodiscard]] std::string joinList(const std::vector<std::string>& words);
// An amount of a resource in the resource's own unit, in the form of a manifest: "8 nvidia.com/gpu", "16
// cpu", "500m cpu", "512Gi memory".
[[nodiscard]] std::string amountOf(std::string_view resource, std::int64_t amount);

}  // namespace trainyard::model
