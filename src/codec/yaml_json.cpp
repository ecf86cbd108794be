#include "codec/yaml_json.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "codec/json_writer.h"

namespace trainyard::codec {
namespace {

constexpr std::array<std::string_view, 11> kTrue{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::size_t skipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && isDigit(text[at])) ++at;
  return at;
}

// Whether the text is a number as JSON writes them; YAML's sign "+" and a missing 0 before the point aside.
bool isJsonNumber(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = skipDigits(text, at);
  if (whole == at || (text[at] == '0' && whole - at > 1)) return false;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = skipDigits(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    at += at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? 2 : 1;
    const std::size_t end = skipDigits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

// What YAML reads as a number and JSON does not write: the reason to refuse it.
std::optional<std::string_view> strangeNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const std::string_view each : {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}) {
    if (text == each) return "is no number that JSON has";
  }
  const auto all = [&](std::string_view rest, auto test) {
    return !rest.empty() && std::all_of(rest.begin(), rest.end(), test);
  };
  const auto isHex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto isDecimal = [](char c) { return isDigit(c) || c == '_'; };
  const bool strange =
      (text.starts_with("0x") && all(text.substr(2), isHex)) ||
      ((text.starts_with("0b") || text.starts_with("0o")) && all(text.substr(2), isDecimal)) ||
      (text.size() > 1 && isDigit(text[0]) && all(text, isDecimal));
  return strange ? std::optional<std::string_view>("write numbers as decimals, texts in quotes")
                 : std::nullopt;
}

class Writer {
 public:
  explicit Writer(const std::string& file) : file_(file) {}

  base::Result<std::string> write(const YamlValue& value) {
    add(value);
    if (!complaint_.empty()) return base::fail(base::ErrorCode::kInvalid, complaint_);
    return std::move(out_).take();
  }

 private:
  void add(const YamlValue& value) {
    switch (value.kind) {
      case YamlValue::Kind::kNull: out_.null(); return;
      case YamlValue::Kind::kText: addScalar(value); return;
      case YamlValue::Kind::kList:
        out_.beginArray();
        for (const YamlValue& item : value.items) add(item);
        out_.endArray();
        return;
      case YamlValue::Kind::kMap:
        out_.beginObject();
        for (const auto& [key, member] : value.members) {
          out_.key(key);
          add(member);
        }
        out_.endObject();
        return;
    }
  }

  void addScalar(const YamlValue& value) {
    const std::string_view text = value.text;
    if (value.quoted) {
      out_.string(text);
    } else if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) {
      out_.boolean(true);
    } else if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) {
      out_.boolean(false);
    } else if (const std::string_view number = text.starts_with('+') ? text.substr(1) : text;
               isJsonNumber(number)) {
      out_.raw(number);
    } else {
      if (const auto why = strangeNumber(text); why && complaint_.empty())
        complaint_ = fmt::format("{}:{}: {}: {}", file_, value.line, text, *why);
      out_.string(text);
    }
  }

  const std::string& file_;
  JsonWriter out_;
  std::string complaint_;
};

const YamlValue* memberOf(const YamlValue& value, std::string_view key) {
  for (const auto& [name, member] : value.members) {
    if (name == key) return &member;
  }
  return nullptr;
}

// An element by its index, or by what its field "name" says.
const YamlValue* elementOf(const YamlValue& value, std::string_view which) {
  std::size_t index = 0;
  const auto [end, failure] = std::from_chars(which.data(), which.data() + which.size(), index);
  if (failure == std::errc() && end == which.data() + which.size())
    return index < value.items.size() ? &value.items[index] : nullptr;
  for (const YamlValue& item : value.items) {
    const YamlValue* name = memberOf(item, "name");
    if (name != nullptr && name->text == which) return &item;
  }
  return nullptr;
}

// The text of the path that begins here: as far as names, dots and brackets go.
std::string_view pathAt(std::string_view text) {
  std::size_t end = 0;
  bool inBrackets = false;
  while (end < text.size()) {
    const char c = text[end];
    if (c == '[') inBrackets = true;
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '[' ||
                      c == ']' || (inBrackets && c != ':' && c != ' ');
    if (!part) break;
    if (c == ']') inBrackets = false;
    ++end;
  }
  return text.substr(0, end);
}

}  // namespace

base::Result<std::string> yamlToJson(const YamlValue& value, const std::string& file) {
  return Writer(file).write(value);
}

int lineOfNamedField(const YamlValue& document, std::string_view message) {
  std::size_t begin = std::string_view::npos;
  for (const std::string_view root : {"spec", "metadata"}) {
    for (std::size_t at = message.find(root); at != std::string_view::npos; at = message.find(root, at + 1)) {
      const bool starts = at == 0 || std::isalnum(static_cast<unsigned char>(message[at - 1])) == 0;
      if (starts && memberOf(document, pathAt(message.substr(at)).substr(0, root.size())) != nullptr) {
        begin = std::min(begin, at);
        break;
      }
    }
  }
  if (begin == std::string_view::npos) return document.line;
  std::string_view path = pathAt(message.substr(begin));
  const YamlValue* value = &document;
  while (!path.empty()) {
    if (path.front() == '.' || path.front() == ']') {
      path.remove_prefix(1);
      continue;
    }
    const bool bracket = path.front() == '[';
    if (bracket) path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(bracket ? "]" : ".["), path.size());
    const std::string_view step = path.substr(0, end);
    const YamlValue* next = bracket ? elementOf(*value, step) : memberOf(*value, step);
    if (next == nullptr) break;
    value = next;
    path.remove_prefix(end);
  }
  return value->line;
}

}  // namespace trainyard::codec
