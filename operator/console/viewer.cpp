#include "operator/console/viewer.h"

#include <algorithm>

namespace trainyard::operator_::console {
namespace {

bool partOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '/';
}

}  // namespace

std::string tenantOf(std::string_view user) {
  constexpr std::string_view kAccount = "system:serviceaccount:";
  if (!user.starts_with(kAccount)) return std::string(user);
  const std::string_view rest = user.substr(kAccount.size());
  return "system:serviceaccounts:" + std::string(rest.substr(0, rest.find(':')));
}

std::string withoutOthers(std::string_view text, const Viewer& viewer, const Names& known) {
  if (viewer.everywhere) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!partOfName(text[at])) {
      out += text[at++];
      continue;
    }
    const auto end = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), partOfName) -
        text.begin());
    std::string_view word = text.substr(at, end - at);
    at = end;
    std::string_view stop;  // a full stop is no part of a name
    while (word.ends_with('.')) {
      stop = ".";
      word.remove_suffix(1);
    }
    const auto slash = word.find('/');
    const std::string_view ns = slash == std::string_view::npos ? std::string_view() : word.substr(0, slash);
    out += known.contains(ns) && !viewer.sees(ns) ? kAnother : word;
    out += stop;
  }
  return out;
}

}  // namespace trainyard::operator_::console
