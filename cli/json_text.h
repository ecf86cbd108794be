#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// API objects in forms for people and for other programs. Pure.
namespace trainyard::cli {

// Returns the value as YAML, with keys in their order; quotes texts that YAML would parse as
// another type. kInvalid if the text is not JSON.
[[nodiscard]] base::Result<std::string> yamlOfJson(std::string_view json);

// Returns "KIND/NAME" for the object, or for each of its `items`, as `kubectl -o name`.
[[nodiscard]] base::Result<std::string> namesOfJson(std::string_view json, std::string_view kind);

}  // namespace trainyard::cli
