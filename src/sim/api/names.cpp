#include "sim/api/names.h"

#include <algorithm>

namespace trainyard::sim {
namespace {

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isAlnum(char c) { return isLower(c) || isDigit(c) || (c >= 'A' && c <= 'Z'); }

bool isShortName(std::string_view text) {
  if (text.empty() || text.size() > 63 || !isAlnum(text.front()) || !isAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return isAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool isDnsLabel(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return isLower(c) || isDigit(c) || c == '-'; });
}

bool isDnsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const auto dot = text.find('.');
    const auto part = text.substr(0, dot);
    // Only the whole name is limited in length, not its parts.
    if (part.empty() || part.front() == '-' || part.back() == '-') return false;
    if (!std::all_of(part.begin(), part.end(), [](char c) { return isLower(c) || isDigit(c) || c == '-'; }))
      return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool isQualifiedName(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return isShortName(text);
  return isDnsSubdomain(text.substr(0, slash)) && isShortName(text.substr(slash + 1));
}

bool isLabelValue(std::string_view text) { return text.empty() || isShortName(text); }

bool isEnvVarName(std::string_view text) {
  // Since 1.34: any printable ASCII except '='.
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

bool isConfigMapKey(std::string_view text) {
  if (text.empty() || text.size() > 253 || text == "." || text == ".." || text.substr(0, 2) == "..")
    return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return isAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool isPortName(std::string_view text) {
  if (text.empty() || text.size() > 15 || text.front() == '-' || text.back() == '-') return false;
  if (text.find("--") != std::string_view::npos || std::none_of(text.begin(), text.end(), isLower))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return isLower(c) || isDigit(c) || c == '-'; });
}

}  // namespace trainyard::sim
