#include <cstdio>
#include <cstdlib>

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

bool looksLikeObject(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.starts_with('{') && last != std::string_view::npos && text[last] == '}';
}

TwoTexts splitAtNewline(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + 1)};
}

}  // namespace trainyard::fuzz
