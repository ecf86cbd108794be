#include "codec/yaml_json.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "codec/yaml_scalar.h"

namespace trainyard::codec {
namespace {

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
    if (value.quoted) {
      out_.string(value.text);
      return;
    }
    using enum YamlScalar::Kind;
    const YamlScalar scalar = readYamlScalar(value.text);
    switch (scalar.kind) {
      case kNull:
      case kBool:
      case kNumber: out_.raw(scalar.json); return;
      case kText: out_.string(value.text); return;
      case kNoJson:
        if (complaint_.empty())
          complaint_ = fmt::format("{}:{}: {}: is not a JSON number", file_, value.line, value.text);
        out_.null();
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

// Returns an element by its index, or by the value of its field "name".
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

// Returns the prefix of the text that is a path: names, dots and brackets.
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
