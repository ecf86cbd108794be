#include "base/json_text.h"

#include <fmt/format.h>

#include "base/plain_text.h"

namespace trainyard::base {

std::size_t utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) > 0x9F;
    return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool tooLarge = lead == 0xF4 && byte(1) > 0x8F;
    return !overlong && !tooLarge && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

namespace {

void appendEscaped(std::string& out, char32_t letter) {
  auto number = static_cast<unsigned>(letter);
  if (number > 0xFFFF) {
    number -= 0x10000;
    out += fmt::format("\\u{:04x}", 0xD800 + (number >> 10U));
    number = 0xDC00 + (number & 0x3FFU);
  }
  out += fmt::format("\\u{:04x}", number);
}

}  // namespace

void appendJson(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = utf8Length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length > 1 && isInvisible(codePointAt(text))) {
      // Invisible characters change how the rest is displayed; JavaScript and YAML 1.1 break lines at some.
      appendEscaped(out, codePointAt(text));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

std::string quoteJson(std::string_view text) {
  std::string out;
  appendJson(out, text);
  return out;
}

}  // namespace trainyard::base
