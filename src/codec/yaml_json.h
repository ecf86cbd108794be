#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/yaml_value.h"

namespace trainyard::codec {

// The JSON that kubectl makes of a YAML value before it sends it: unquoted scalars are what YAML 1.1 reads
// them as (codec/yaml_scalar.h). kInvalid with "FILE:LINE: …" for numbers that JSON does not have
// (infinities, NaN).
[[nodiscard]] base::Result<std::string> yamlToJson(const YamlValue& value, const std::string& file);

// The line of the field that a message about the document names, as "spec.roles[0].replicas" or
// "spec.roles[worker].template", or of the nearest field above it that is there.
[[nodiscard]] int lineOfNamedField(const YamlValue& document, std::string_view message);

}  // namespace trainyard::codec
