#include "codec/label_syntax.h"

#include <algorithm>

namespace trainyard::codec {
namespace {

constexpr std::size_t kMaxName = 63;
constexpr std::size_t kMaxPrefix = 253;

bool isLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool isAlphanumeric(char c) { return isLower(c) || (c >= 'A' && c <= 'Z'); }

bool isSubdomain(std::string_view text) {
  if (text.size() > kMaxPrefix) return false;
  while (true) {
    const std::string_view part = text.substr(0, text.find('.'));
    const bool good = !part.empty() && isLower(part.front()) && isLower(part.back()) &&
                      std::all_of(part.begin(), part.end(), [](char c) { return isLower(c) || c == '-'; });
    if (!good) return false;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace

bool isLabelName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && isAlphanumeric(text.front()) &&
         isAlphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return isAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool isLabelKey(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return isLabelName(text);
  return isSubdomain(text.substr(0, slash)) && isLabelName(text.substr(slash + 1));
}

}  // namespace trainyard::codec
