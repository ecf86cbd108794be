#include "launch/membership.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>

namespace trainyard::launch {
namespace {

constexpr std::size_t kMax = 4'096;
constexpr std::string_view kSpace = " \t\r\n";

// Returns what follows `"name":`, without leading white space. The operator writes the file: names and values
// have no escapes, and a value never contains a name.
std::string_view valueOf(std::string_view text, std::string_view name) {
  const std::string quoted = '"' + std::string(name) + '"';
  const std::size_t at = text.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + quoted.size());
  for (const bool colon : {true, false}) {
    const std::size_t begin = rest.find_first_not_of(kSpace);
    if (begin == std::string_view::npos || (colon && rest[begin] != ':')) return {};
    rest = rest.substr(begin + (colon ? 1 : 0));
  }
  return rest;
}

std::optional<std::int64_t> numberOf(std::string_view text, std::string_view name) {
  const std::string_view value = valueOf(text, name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Membership> parseMembership(std::string_view text) {
  if (text.size() > kMax) return std::nullopt;
  const auto generation = numberOf(text, "generation");
  const auto size = numberOf(text, "size");
  const std::string_view role = valueOf(text, "role");
  if (!generation || !size || *size > std::numeric_limits<int>::max()) return std::nullopt;
  if (!role.starts_with('"')) return std::nullopt;
  const std::size_t end = role.find('"', 1);
  if (end == std::string_view::npos || end == 1) return std::nullopt;
  return Membership{*generation, std::string(role.substr(1, end - 1)), static_cast<int>(*size)};
}

std::optional<Membership> readMembership(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return parseMembership(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace trainyard::launch
