#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::cel {

enum class TokenKind { kIdentifier, kInteger, kText, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;          // of an identifier, a symbol ("&&"), a string; without quotes and escapes
  std::uint64_t number = 0;  // of an integer, without its sign
  std::size_t at = 0;        // position in the expression, for messages
};

// Splits an expression. The last token is kEnd. kUnsupported names what is not in the subset.
[[nodiscard]] base::Result<std::vector<Token>> tokenize(std::string_view expression);

}  // namespace trainyard::cel
