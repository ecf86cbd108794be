#include "cli/plain_text.h"

namespace trainyard::cli {

std::string plainText(std::string_view text, bool keepLines) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      plain += ' ';
      ++i;
      continue;
    }
    const bool control = (byte < 0x20 && !(keepLines && byte == '\n')) || byte == 0x7f;
    plain += control ? ' ' : text[i];
  }
  return plain;
}

}  // namespace trainyard::cli
