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

// The object without what may be secret: values of environment variables, of probes' headers and of CSI
// volumes' attributes, what follows words like password or token in any text, the copy of the object that
// kubectl keeps in an annotation, managed fields; of a Secret all data. A list's items each.
[[nodiscard]] base::Result<std::string> withoutSecrets(std::string_view json);
// The same of a line of a log.
[[nodiscard]] std::string lineWithoutSecrets(std::string_view line);

}  // namespace trainyard::cli
