#pragma once

#include <optional>
#include <string_view>

namespace trainyard::cli {

// Of a pod's types that people write by hand ("PodSpec", "Container", "Volume", …): the type of a field,
// empty where what is in it is not looked at; nullopt where the type has no such field.
[[nodiscard]] std::optional<std::string_view> podField(std::string_view type, std::string_view field);

}  // namespace trainyard::cli
