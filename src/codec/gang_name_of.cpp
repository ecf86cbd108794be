#include "codec/gang_name_of.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "codec/fnv128.h"

namespace trainyard::codec {

std::string gangNameOf(std::string_view name, std::string_view kind) {
  constexpr std::size_t kMaxLabel = 63;
  constexpr std::size_t kDigits = 10;
  std::string suffix = fmt::format(".{}", kind);
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.size() + suffix.size() <= kMaxLabel) return fmt::format("{}{}", name, suffix);
  Fnv128 hash;
  hash.add(name);
  const std::size_t left = kMaxLabel - suffix.size() - kDigits - 1;
  return fmt::format("{}-{}{}", name.substr(0, left), hash.hex().substr(0, kDigits), suffix);
}

}  // namespace trainyard::codec
