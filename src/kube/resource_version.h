#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard::kube {

// Returns a resourceVersion as a number. Versions of one type of one API server are ordered: documented since
// Kubernetes 1.35, and true for every etcd-backed server before. Returns nullopt if the text is no number;
// such versions are never compared.
[[nodiscard]] std::optional<std::uint64_t> versionNumber(std::string_view resourceVersion);

// Returns 0 if the object has no comparable version.
template <typename T>
[[nodiscard]] std::uint64_t versionOf(const T& object) {
  if constexpr (requires { object.resourceVersion; }) {
    return versionNumber(object.resourceVersion).value_or(0);
  } else {
    return 0;
  }
}

}  // namespace trainyard::kube
