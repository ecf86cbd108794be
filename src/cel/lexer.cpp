#include "cel/lexer.h"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace trainyard::cel {
namespace {

using base::ErrorCode;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool beginsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isOfName(char c) { return beginsName(c) || isDigit(c); }

constexpr std::array<std::string_view, 22> kSymbols{"&&", "||", "==", "!=", "<=", ">=", "<", ">",
                                                    "!",  "+",  "-",  "*",  "/",  "%",  "?", ":",
                                                    "(",  ")",  "[",  "]",  ".",  ","};

void appendUtf8(std::uint32_t point, std::string& into) {
  const auto byte = [&](std::uint32_t bits) { into.push_back(static_cast<char>(bits)); };
  if (point < 0x80) return byte(point);
  if (point < 0x800) {
    byte(0xC0 | (point >> 6));
  } else if (point < 0x10000) {
    byte(0xE0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3F));
  } else {
    byte(0xF0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3F));
    byte(0x80 | ((point >> 6) & 0x3F));
  }
  byte(0x80 | (point & 0x3F));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<std::vector<Token>> run() {
    while (true) {
      skipSpace();
      if (at_ == text_.size()) {
        tokens_.push_back({TokenKind::kEnd, {}, 0, at_});
        return std::move(tokens_);
      }
      if (const auto error = next()) return base::fail(*error);
    }
  }

 private:
  using Failure = std::optional<base::Error>;

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] Failure failure(ErrorCode code, std::string_view what) const {
    return base::Error{code, fmt::format("{} at character {}", what, at_ + 1)};
  }

  void skipSpace() {
    while (at_ < text_.size()) {
      if (rest().starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\n\r\f").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  Failure next() {
    const char c = text_[at_];
    const bool raw =
        (c == 'r' || c == 'R') && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\'');
    if (c == '"' || c == '\'' || raw) return readText(raw);
    if (beginsName(c)) return readName();
    if (isDigit(c)) return readNumber();
    for (const std::string_view symbol : kSymbols) {
      if (!rest().starts_with(symbol)) continue;
      tokens_.push_back({TokenKind::kSymbol, std::string(symbol), 0, at_});
      at_ += symbol.size();
      return std::nullopt;
    }
    return failure(c == '{' || c == '}' ? ErrorCode::kUnsupported : ErrorCode::kInvalid,
                   fmt::format("'{}' is not supported", c));
  }

  Failure readName() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && isOfName(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool beginsText = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    if (beginsText) return failure(ErrorCode::kUnsupported, "a literal of bytes");
    tokens_.push_back({TokenKind::kIdentifier, std::string(name), 0, begin});
    return std::nullopt;
  }

  Failure readNumber() {
    Token token{TokenKind::kInteger, {}, 0, at_};
    const bool hex = rest().starts_with("0x");
    const char* const from = text_.data() + at_ + (hex ? 2 : 0);
    const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), token.number, hex ? 16 : 10);
    if (error != std::errc{}) return failure(ErrorCode::kInvalid, "a number that is too large");
    at_ = static_cast<std::size_t>(end - text_.data());
    const bool isReal = at_ + 1 < text_.size() && text_[at_] == '.' && isDigit(text_[at_ + 1]);
    if (isReal || (at_ < text_.size() && isOfName(text_[at_])))
      return failure(ErrorCode::kUnsupported, "a number that is no integer");
    tokens_.push_back(std::move(token));
    return std::nullopt;
  }

  Failure readText(bool raw) {
    Token token{TokenKind::kText, {}, 0, at_};
    if (raw) ++at_;
    const char quote = text_[at_];
    if (rest().starts_with(std::string(3, quote)))
      return failure(ErrorCode::kUnsupported, "a string in triple quotes");
    for (++at_; at_ < text_.size() && text_[at_] != quote;) {
      if (text_[at_] == '\n' || text_[at_] == '\r') break;
      if (text_[at_] == '\\' && !raw) {
        if (const auto error = readEscape(token.text)) return error;
      } else {
        token.text.push_back(text_[at_++]);
      }
    }
    if (at_ == text_.size() || text_[at_] != quote)
      return failure(ErrorCode::kInvalid, "a string without end");
    ++at_;
    tokens_.push_back(std::move(token));
    return std::nullopt;
  }

  Failure readEscape(std::string& into) {
    constexpr std::string_view kNames = "abfnrtv\\'\"?`";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"?`";
    if (at_ + 1 == text_.size()) return failure(ErrorCode::kInvalid, "a string without end");
    const char name = text_[at_ + 1];
    if (const std::size_t known = kNames.find(name); known != std::string_view::npos) {
      into.push_back(kMeanings[known]);
      at_ += 2;
      return std::nullopt;
    }
    const bool octal = name >= '0' && name <= '3';
    const std::size_t digits = octal                        ? 3
                               : name == 'x' || name == 'X' ? 2
                               : name == 'u'                ? 4
                               : name == 'U'                ? 8
                                                            : 0;
    const std::size_t begin = at_ + (octal ? 1 : 2);
    if (digits == 0 || begin + digits > text_.size())
      return failure(ErrorCode::kInvalid, "an unknown escape in a string");
    std::uint32_t point = 0;
    const char* const end = text_.data() + begin + digits;
    const auto [stopped, error] = std::from_chars(text_.data() + begin, end, point, octal ? 8 : 16);
    const bool valid =
        error == std::errc{} && stopped == end && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    if (!valid) return failure(ErrorCode::kInvalid, "an unknown escape in a string");
    appendUtf8(point, into);
    at_ = begin + digits;
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

base::Result<std::vector<Token>> tokenize(std::string_view expression) { return Lexer(expression).run(); }

}  // namespace trainyard::cel
