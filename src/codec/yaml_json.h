#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/yaml_value.h"

namespace trainyard::codec {

// Converts a YAML value to the JSON that kubectl sends for it: unquoted scalars are read as YAML 1.1
// (codec/yaml_scalar.h). kInvalid with "FILE:LINE: …" for numbers that JSON does not support (infinities,
// NaN).
[[nodiscard]] base::Result<std::string> yamlToJson(const YamlValue& value, const std::string& file);

// Returns the line of the field that a message about the document names, such as "spec.roles[0].replicas" or
// "spec.roles[worker].template", or of its nearest ancestor that exists.
[[nodiscard]] int lineOfNamedField(const YamlValue& document, std::string_view message);

}  // namespace trainyard::codec
