#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// Objects of the API as people and other programs want to read them. Pure.
namespace trainyard::cli {

// The same value as YAML, keys in their order; texts that YAML would read as something else are quoted.
// kInvalid for what is no JSON.
[[nodiscard]] base::Result<std::string> yamlOfJson(std::string_view json);

// "KIND/NAME" for the object, or for each of its `items`, as `kubectl -o name`.
[[nodiscard]] base::Result<std::string> namesOfJson(std::string_view json, std::string_view kind);

}  // namespace trainyard::cli
