#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_text.h"

namespace trainyard::base {
namespace {

using Range = std::pair<char32_t, char32_t>;  // both ends included

// Characters that break a line, move the cursor, or stand for a blank.
constexpr std::array<Range, 4> kControls = {{{0x0, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x2029}, {0xFFF9, 0xFFFB}}};
// Unicode's format characters (category Cf) that are not part of a visible letter, and its invisible fillers.
constexpr std::array<Range, 15> kHidden = {{{0xAD, 0xAD},
                                            {0x34F, 0x34F},
                                            {0x61C, 0x61C},
                                            {0x115F, 0x1160},
                                            {0x17B4, 0x17B5},
                                            {0x180B, 0x180F},
                                            {0x200B, 0x200F},
                                            {0x202A, 0x202E},
                                            {0x2060, 0x206F},
                                            {0x3164, 0x3164},
                                            {0xFEFF, 0xFEFF},
                                            {0xFFA0, 0xFFA0},
                                            {0x1BCA0, 0x1BCA3},
                                            {0x1D173, 0x1D17A},
                                            {0xE0000, 0xE0FFF}}};

template <std::size_t Count>
bool isIn(const std::array<Range, Count>& ranges, char32_t letter) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& each) { return letter >= each.first && letter <= each.second; });
}

bool isPrintable(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

bool isInvisible(char32_t letter) { return isIn(kControls, letter) || isIn(kHidden, letter); }

char32_t codePointAt(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  switch (utf8Length(text)) {
    case 2: return (byte(0) & 0x1F) << 6U | (byte(1) & 0x3F);
    case 3: return (byte(0) & 0x0F) << 12U | (byte(1) & 0x3F) << 6U | (byte(2) & 0x3F);
    case 4:
      return (byte(0) & 0x07) << 18U | (byte(1) & 0x3F) << 12U | (byte(2) & 0x3F) << 6U | (byte(3) & 0x3F);
    default: return byte(0);
  }
}

bool isPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), isPrintable) || plainText(text, false) == text;
}

std::string plainText(std::string_view text, bool keepLines) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const char first = text.front();
    if (isPrintable(first) || (keepLines && first == '\n')) {
      plain += first;
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = utf8Length(text);
    const char32_t letter = length == 0 ? 0 : codePointAt(text);
    if (isIn(kControls, letter)) {
      plain += ' ';
    } else if (!isIn(kHidden, letter)) {
      plain += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return plain;
}

}  // namespace trainyard::base
