#pragma once

#include <optional>
#include <string_view>

namespace trainyard::cli {

// Returns the type of a field in one of the pod's types ("PodSpec", "Container", "Volume", …) that people
// write by hand. Empty if the field's content is not checked; nullopt if the type has no such field.
[[nodiscard]] std::optional<std::string_view> podField(std::string_view type, std::string_view field);

}  // namespace trainyard::cli
