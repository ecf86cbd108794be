#pragma once

// Internal to src/sim: the name grammars of Kubernetes.

#include <string_view>

namespace trainyard::sim {

[[nodiscard]] bool isDnsLabel(std::string_view text);       // RFC 1123 label, at most 63
[[nodiscard]] bool isDnsSubdomain(std::string_view text);   // labels joined by dots, at most 253
[[nodiscard]] bool isQualifiedName(std::string_view text);  // [prefix/]name of labels, annotations, resources
[[nodiscard]] bool isLabelValue(std::string_view text);
[[nodiscard]] bool isEnvVarName(std::string_view text);
[[nodiscard]] bool isConfigMapKey(std::string_view text);
[[nodiscard]] bool isPortName(std::string_view text);

}  // namespace trainyard::sim
