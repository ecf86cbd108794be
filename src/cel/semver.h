#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cel {

// A semantic version, semver.org 2.0.0. Build metadata is checked, and does not take part in comparisons.
struct Semver {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::vector<std::string> prerelease;

  // Section 11: a pre-release comes before its release; numeric identifiers come before others.
  friend std::strong_ordering operator<=>(const Semver& a, const Semver& b);
  friend bool operator==(const Semver& a, const Semver& b) { return (a <=> b) == 0; }
};

// Strict: three numbers without leading zeros, no "v" in front.
[[nodiscard]] std::optional<Semver> parseSemver(std::string_view text);

}  // namespace trainyard::cel
