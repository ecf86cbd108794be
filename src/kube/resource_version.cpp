#include "kube/resource_version.h"

#include <charconv>

namespace trainyard::kube {

std::optional<std::uint64_t> versionNumber(std::string_view resourceVersion) {
  std::uint64_t number = 0;
  const char* const begin = resourceVersion.data();
  const char* const end = begin + resourceVersion.size();
  const auto [stopped, error] = std::from_chars(begin, end, number);
  if (resourceVersion.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace trainyard::kube
