#pragma once

#include <string>
#include <string_view>

namespace trainyard::codec {

// An unquoted YAML scalar as kubectl (sigs.k8s.io/yaml, YAML 1.1) reads it: "yes" and "off" are bools; 0400,
// 0o400, 0x1F, 0b11 and 1_000 are integers; 08 and 1e3 are numbers; dates are texts.
struct YamlScalar {
  enum class Kind { kNull, kBool, kNumber, kText, kNoJson };
  Kind kind = Kind::kText;
  // The value in JSON: "true", "256", "0.5"; the unquoted text of a text; the text of kNoJson (infinities and
  // NaN).
  std::string json = {};
};

[[nodiscard]] YamlScalar readYamlScalar(std::string_view text);

}  // namespace trainyard::codec
