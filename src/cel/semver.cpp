#include "cel/semver.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace trainyard::cel {
namespace {

bool isNumeral(char c) { return c >= '0' && c <= '9'; }
bool isOfIdentifier(char c) {
  return isNumeral(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}
bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isNumeral);
}

std::optional<std::uint64_t> parseNumber(std::string_view text) {
  if (!isNumber(text) || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::vector<std::string>> parseIdentifiers(std::string_view text, bool mayLeadWithZero) {
  std::vector<std::string> found;
  while (true) {
    const std::string_view each = text.substr(0, text.find('.'));
    if (each.empty() || !std::all_of(each.begin(), each.end(), isOfIdentifier)) return std::nullopt;
    if (!mayLeadWithZero && isNumber(each) && !parseNumber(each)) return std::nullopt;
    found.emplace_back(each);
    if (each.size() == text.size()) return found;
    text.remove_prefix(each.size() + 1);
  }
}

std::strong_ordering compareIdentifiers(const std::string& a, const std::string& b) {
  const bool number = isNumber(a);
  if (number != isNumber(b)) return number ? std::strong_ordering::less : std::strong_ordering::greater;
  // Numbers without leading zeros: the longer one is the larger.
  if (number && a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

}  // namespace

std::strong_ordering operator<=>(const Semver& a, const Semver& b) {
  if (const auto order = a.major <=> b.major; order != 0) return order;
  if (const auto order = a.minor <=> b.minor; order != 0) return order;
  if (const auto order = a.patch <=> b.patch; order != 0) return order;
  if (a.prerelease.empty() || b.prerelease.empty()) return a.prerelease.empty() <=> b.prerelease.empty();
  return std::lexicographical_compare_three_way(a.prerelease.begin(), a.prerelease.end(),
                                                b.prerelease.begin(), b.prerelease.end(), compareIdentifiers);
}

std::optional<Semver> parseSemver(std::string_view text) {
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos && !parseIdentifiers(text.substr(plus + 1), true)) return std::nullopt;
  text = text.substr(0, plus);
  Semver version;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    auto prerelease = parseIdentifiers(text.substr(dash + 1), false);
    if (!prerelease) return std::nullopt;
    version.prerelease = *std::move(prerelease);
    text = text.substr(0, dash);
  }
  for (std::uint64_t* part : {&version.major, &version.minor, &version.patch}) {
    const bool last = part == &version.patch;
    const std::size_t dot = last ? text.size() : text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto number = parseNumber(text.substr(0, dot));
    if (!number) return std::nullopt;
    *part = *number;
    text.remove_prefix(last ? dot : dot + 1);
  }
  return version;
}

}  // namespace trainyard::cel
