#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/yaml_value.h"

namespace trainyard::codec {

// The JSON that kubectl makes of a YAML value before it sends it: unquoted scalars are numbers and bools
// where YAML 1.1 reads them so ("yes", "off" included). kInvalid with "FILE:LINE: …" for numbers that JSON
// does not have (infinities, NaN) and for those that are not decimal (010, 0x10), which people read
// differently.
[[nodiscard]] base::Result<std::string> yamlToJson(const YamlValue& value, const std::string& file);

// The line of the field that a message about the document names, as "spec.roles[0].replicas" or
// "spec.roles[worker].template", or of the nearest field above it that is there.
[[nodiscard]] int lineOfNamedField(const YamlValue& document, std::string_view message);

}  // namespace trainyard::codec
