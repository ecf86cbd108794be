#include "codec/yaml_value.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/cut_text.h"
#include "base/json_text.h"
#include "codec/base64.h"
#include "codec/yaml_scalar.h"

namespace trainyard::codec {
namespace {

constexpr std::size_t kMaxBytes = 1u << 20;
constexpr int kMaxValues = 10'000;
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxQuoted = 60;

// Returns the part of the text that an error quotes.
std::string quoted(std::string_view text) {
  if (text.size() <= kMaxQuoted) return std::string(text);
  return fmt::format("{}…", base::cutText(text, kMaxQuoted));
}

struct Refusal {
  int line;
  std::string why;
};

int lineOf(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }

class Converter {
 public:
  YamlValue convert(const YAML::Node& node, int depth) {
    const int line = lineOf(node.Mark());
    if (depth > kMaxDepth) throw Refusal{line, fmt::format("nested deeper than {} levels", kMaxDepth)};
    // Nested aliases can expand exponentially.
    if (++values_ > kMaxValues) throw Refusal{line, fmt::format("more than {} values", kMaxValues)};
    YamlValue value;
    value.line = line;
    switch (node.Type()) {
      case YAML::NodeType::Scalar: readScalar(node, line, value); break;
      case YAML::NodeType::Sequence:
        checkTag(node, line, "seq");
        value.kind = YamlValue::Kind::kList;
        for (const auto& item : node) value.items.push_back(convert(item, depth + 1));
        break;
      case YAML::NodeType::Map:
        checkTag(node, line, "map");
        readMap(node, depth, value);
        break;
      default: break;
    }
    return value;
  }

 private:
  // The parser sets "?" and "!" as the tags of plain and quoted scalars without a tag.
  static std::string_view tagOf(const YAML::Node& node) {
    constexpr std::string_view kStandard = "tag:yaml.org,2002:";
    std::string_view tag = node.Tag();
    if (tag == "?" || tag == "!") return {};
    if (tag.starts_with(kStandard)) tag.remove_prefix(kStandard.size());
    return tag;
  }

  static void checkTag(const YAML::Node& node, int line, std::string_view only) {
    const std::string_view tag = tagOf(node);
    if (!tag.empty() && tag != only) throw Refusal{line, fmt::format("tag {} is not read", quoted(tag))};
  }

  static void readScalar(const YAML::Node& node, int line, YamlValue& value) {
    value.text = node.Scalar();
    const std::string_view tag = tagOf(node);
    value.quoted = node.Tag() == "!" || tag == "str";
    if (tag == "binary") {
      auto bytes = decodeBase64(value.text);
      if (!bytes) throw Refusal{line, bytes.error().message};
      value.text = std::move(*bytes);
      value.quoted = true;
    } else if (tag != "str" && tag != "int" && tag != "float" && tag != "bool" && tag != "null") {
      checkTag(node, line, {});
    }
    if (value.quoted || readYamlScalar(value.text).kind != YamlScalar::Kind::kNull) {
      value.kind = YamlValue::Kind::kText;
    } else {
      value.text.clear();
    }
  }

  // A key is the JSON form of its scalar: "yes" is "true".
  static std::string keyOf(const YAML::Node& key, int line) {
    if (key.IsNull()) throw Refusal{line, "a key must not be null"};
    if (!key.IsScalar()) throw Refusal{line, "a key must be a text"};
    YamlValue value;
    readScalar(key, line, value);
    if (value.kind == YamlValue::Kind::kNull) throw Refusal{line, "a key must not be null"};
    return value.quoted ? value.text : readYamlScalar(value.text).json;
  }

  static bool isMerge(const YAML::Node& key) {
    return key.IsScalar() && key.Scalar() == "<<" && (key.Tag() == "?" || tagOf(key) == "merge");
  }

  // Merges as kubectl does: in the order of the file, so a "<<" also replaces keys before it. In a list, the
  // first map takes precedence.
  void merge(const YAML::Node& from, int line, int depth, YamlValue& into) {
    if (from.IsSequence()) {
      for (std::size_t i = from.size(); i > 0; --i) mergeMap(from[i - 1], line, depth, into);
      return;
    }
    mergeMap(from, line, depth, into);
  }

  void mergeMap(const YAML::Node& from, int line, int depth, YamlValue& into) {
    if (!from.IsMap()) throw Refusal{line, "\"<<\" takes a map or a list of maps"};
    YamlValue merged = convert(from, depth + 1);
    for (auto& [key, member] : merged.members) set(into, std::move(key), std::move(member));
  }

  static void set(YamlValue& map, std::string key, YamlValue member) {
    const auto found = std::find_if(map.members.begin(), map.members.end(),
                                    [&](const auto& each) { return each.first == key; });
    if (found == map.members.end()) {
      map.members.emplace_back(std::move(key), std::move(member));
    } else {
      found->second = std::move(member);
    }
  }

  void readMap(const YAML::Node& node, int depth, YamlValue& value) {
    value.kind = YamlValue::Kind::kMap;
    std::set<std::string> own;
    for (const auto& entry : node) {
      const int line = lineOf(entry.first.Mark());
      if (isMerge(entry.first)) {
        merge(entry.second, line, depth, value);
        continue;
      }
      std::string key = keyOf(entry.first, line);
      if (!own.insert(key).second) throw Refusal{line, fmt::format("key \"{}\" occurs twice", quoted(key))};
      YamlValue member = convert(entry.second, depth + 1);
      // A null has no line of its own, and for a list or map the line of its key is more helpful.
      if (member.kind != YamlValue::Kind::kText) member.line = line;
      set(value, std::move(key), std::move(member));
    }
  }

  int values_ = 0;
};

// Returns the first line with bytes that are not text; the parser takes some for an encoding or for the end.
std::optional<int> lineOfNoText(std::string_view text) {
  int line = 1;
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = base::utf8Length(text);
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
    if (length == 0 || control) return line;
    if (c == '\n') ++line;
    text.remove_prefix(length);
  }
  return std::nullopt;
}

// Returns true if the line begins a document.
bool isMarker(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\r');
}

// YAML::Load reads the first document and ignores the others silently.
std::optional<int> secondDocument(const std::string& text) {
  bool content = false;
  int line = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    ++line;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view each = std::string_view(text).substr(at, end - at);
    const bool marker = isMarker(each);
    if (marker && content) return line;
    const auto first = each.find_first_not_of(" \t\r");
    if (marker ? each.size() > 4 : first != std::string_view::npos && each[first] != '#') content = true;
    at = end + 1;
  }
  return std::nullopt;
}

// Splits the documents. Each is preceded by as many empty lines as there are lines before it, so that line
// numbers match the file. YAML::LoadAll would split them, but never returns for some texts ("!!str,").
std::vector<std::string> splitDocuments(const std::string& text) {
  std::vector<std::string> documents(1);
  std::size_t line = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (isMarker(std::string_view(text).substr(at, end - at))) documents.emplace_back(line, '\n');
    documents.back().append(text, at, end - at).push_back('\n');
    ++line;
    at = end + 1;
  }
  return documents;
}

tl::unexpected<base::Error> refuse(const std::string& file, int line, std::string_view why) {
  return base::fail(base::ErrorCode::kInvalid, fmt::format("{}:{}: {}", file, line, why));
}

base::Result<void> checkText(const std::string& text, const std::string& file) {
  if (text.size() > kMaxBytes) return refuse(file, 1, "larger than 1 MiB");
  if (const auto line = lineOfNoText(text)) return refuse(file, *line, "is not UTF-8 text");
  return {};
}

base::Result<YamlValue> parseDocument(const std::string& text, const std::string& file) {
  try {
    return Converter().convert(YAML::Load(text), 0);
  } catch (const Refusal& refusal) {
    return refuse(file, refusal.line, refusal.why);
  } catch (const YAML::Exception& error) {
    return refuse(file, lineOf(error.mark), error.msg);
  }
}

}  // namespace

base::Result<YamlValue> parseYamlValue(const std::string& text, const std::string& file) {
  if (auto checked = checkText(text, file); !checked) return base::fail(checked.error());
  if (const auto line = secondDocument(text)) return refuse(file, *line, "only one document is read");
  return parseDocument(text, file);
}

base::Result<std::vector<YamlValue>> parseYamlDocuments(const std::string& text, const std::string& file) {
  if (auto checked = checkText(text, file); !checked) return base::fail(checked.error());
  std::vector<YamlValue> documents;
  for (const std::string& part : splitDocuments(text)) {
    auto document = parseDocument(part, file);
    if (!document) return base::fail(document.error());
    if (document->kind != YamlValue::Kind::kNull) documents.push_back(std::move(*document));
  }
  return documents;
}

void YamlField::expectKeys(std::initializer_list<std::string_view> known) const {
  if (!present()) return;
  if (value_->kind != YamlValue::Kind::kMap) {
    std::string names;
    for (const std::string_view each : known) names += fmt::format("{}{}", names.empty() ? "" : ", ", each);
    return complain(fmt::format("must be a map with the keys {}", names));
  }
  for (const auto& [key, member] : value_->members) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view each : known) names += fmt::format("{}{}", names.empty() ? "" : ", ", each);
    return YamlField(&member, *complaint_, pathOf(quoted(key)), line())
        .complain(fmt::format("is not a known key; known are {}", names));
  }
}

YamlField YamlField::section(std::string_view key) const {
  const YamlValue* found = nullptr;
  if (present() && value_->kind == YamlValue::Kind::kMap) {
    for (const auto& [name, member] : value_->members) {
      if (name == key) found = &member;
    }
  }
  return {found, *complaint_, pathOf(key), line()};
}

YamlField YamlField::operator[](std::string_view key) const {
  YamlField member = section(key);
  if (member.value_ != nullptr && !member.present()) member.complain("has no value");
  return member;
}

YamlField YamlField::childAt(const YamlValue& item, std::size_t index) const {
  return {&item, *complaint_, fmt::format("{}[{}]", path_, index), line()};
}

std::string YamlField::pathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::string YamlField::scalar() const {
  const std::string_view plain = text();
  const bool quoted = present() && value_->quoted;
  return quoted || plain.empty() ? std::string(plain) : readYamlScalar(plain).json;
}

std::string_view YamlField::text() const {
  if (!present()) return {};
  if (value_->kind == YamlValue::Kind::kText) return value_->text;
  complain("must be a single value");
  return {};
}

void YamlField::complain(std::string_view what) const {
  if (!complaint_->text_.empty()) return;
  const std::string path = path_.empty() ? std::string() : path_ + ": ";
  complaint_->text_ = fmt::format("{}:{}: {}{}", complaint_->file_, line(), path, what);
}

void YamlField::refuse(std::string_view what) const {
  const bool scalar = present() && value_->kind == YamlValue::Kind::kText;
  complain(scalar ? fmt::format("{}, not {}", what, value_->text.empty() ? "\"\"" : quoted(value_->text))
                  : std::string(what));
}

}  // namespace trainyard::codec
