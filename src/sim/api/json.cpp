#include "sim/api/json.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "codec/yaml_scalar.h"

namespace trainyard::sim {
namespace {

// nlohmann's parser does not recurse, but the functions that process its result do.
bool tooDeep(std::string_view text) {
  int depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') ++i;
      if (c == '"') inString = false;
      continue;
    }
    if (c == '"') inString = true;
    if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return true;
    }
    if (c == '}' || c == ']') --depth;
  }
  return false;
}

// A parser callback that finds keys used twice in one object; nlohmann itself keeps the last value.
class DuplicateFinder {
 public:
  explicit DuplicateFinder(std::vector<std::string>& out) : out_(out) {}

  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      frames_.push_back({event == Event::object_start, {}, {}, 0});
    } else if (event == Event::object_end || event == Event::array_end) {
      frames_.pop_back();
      valueDone();
    } else if (event == Event::key) {
      auto& frame = frames_.back();
      frame.key = parsed.get<std::string>();
      if (!frame.seen.insert(frame.key).second) out_.push_back(path());
    } else {
      valueDone();
    }
    return true;
  }

 private:
  struct Frame {
    bool object;
    std::set<std::string> seen;
    std::string key;
    int index;
  };

  void valueDone() {
    if (!frames_.empty() && !frames_.back().object) ++frames_.back().index;
  }

  std::string path() const {
    std::string result;
    for (const auto& frame : frames_) {
      if (!frame.object) {
        result += fmt::format("[{}]", frame.index);
        continue;
      }
      if (!result.empty()) result += '.';
      result += frame.key;
    }
    return result;
  }

  std::vector<std::string>& out_;
  std::vector<Frame> frames_;
};

constexpr int kMaxYamlValues = 1'000'000;

// Converts scalars as the API server's converter does: a plain scalar may be null, bool or number.
Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  using enum codec::YamlScalar::Kind;
  const codec::YamlScalar read = codec::readYamlScalar(text);
  if (read.kind == kNoJson) throw YAML::Exception(node.Mark(), "is not a JSON number");
  return read.kind == kText ? Json(text) : Json::parse(read.json);
}

std::string keyOf(const YAML::Node& key) {
  return key.Tag() == "!" ? key.Scalar() : codec::readYamlScalar(key.Scalar()).json;
}

Json convert(const YAML::Node& node, int depth, int& left);

// Merges the value of "<<": a map, or a list of maps in which the first one takes precedence.
void merge(const YAML::Node& from, int depth, int& left, Json& into) {
  const Json merged = convert(from, depth + 1, left);
  if (merged.is_object()) return into.update(merged);
  if (!merged.is_array()) throw YAML::Exception(from.Mark(), "\"<<\" takes a map or a list of maps");
  for (auto each = merged.rbegin(); each != merged.rend(); ++each) {
    if (!each->is_object()) throw YAML::Exception(from.Mark(), "\"<<\" takes a map or a list of maps");
    into.update(*each);
  }
}

// `left` is the number of values that may still be created: nested aliases can expand exponentially.
Json convert(const YAML::Node& node, int depth, int& left) {
  if (depth > kMaxJsonDepth) throw YAML::Exception(node.Mark(), "too deeply nested");
  if (--left < 0) throw YAML::Exception(node.Mark(), "too many values");
  switch (node.Type()) {
    case YAML::NodeType::Scalar: return scalar(node);
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const auto& item : node) list.push_back(convert(item, depth + 1, left));
      return list;
    }
    case YAML::NodeType::Map: {
      Json object = Json::object();
      for (const auto& member : node) {
        if (member.first.Tag() != "!" && member.first.Scalar() == "<<") {
          merge(member.second, depth, left, object);
        } else {
          object[keyOf(member.first)] = convert(member.second, depth + 1, left);
        }
      }
      return object;
    }
    default: return nullptr;
  }
}

// Splits at "---" lines, which no document may contain. YAML::LoadAll would split them too, but never returns
// for some texts ("!!str,").
std::vector<std::string> splitDocuments(const std::string& text) {
  std::vector<std::string> documents(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with("---") &&
        (line.size() == 3 || line[3] == '\n' || line[3] == ' ' || line[3] == '\r')) {
      documents.emplace_back();
    }
    documents.back() += line;
    at = end;
  }
  return documents;
}

const Json& emptyArray() {
  static const Json kEmpty = Json::array();
  return kEmpty;
}

const Json& emptyObject() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}

}  // namespace

base::Result<Json> parseJson(std::string_view text, std::vector<std::string>* duplicates) {
  if (tooDeep(text)) {
    return base::fail(base::ErrorCode::kInvalid, fmt::format("JSON nested deeper than {}", kMaxJsonDepth));
  }
  try {
    if (duplicates == nullptr) return Json::parse(text);
    return Json::parse(text, DuplicateFinder(*duplicates));
  } catch (const Json::exception& problem) {
    return base::fail(base::ErrorCode::kInvalid, problem.what());
  }
}

base::Result<std::vector<Json>> parseYaml(const std::string& text) {
  try {
    std::vector<Json> documents;
    int left = kMaxYamlValues;
    for (const auto& part : splitDocuments(text)) {
      const YAML::Node node = YAML::Load(part);
      if (!node.IsNull()) documents.push_back(convert(node, 0, left));
    }
    return documents;
  } catch (const YAML::Exception& problem) {
    return base::fail(base::ErrorCode::kInvalid, problem.what());
  }
}

const Json* find(const Json& value, std::string_view key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(std::string(key));
  return found == value.end() ? nullptr : &*found;
}

const Json* findPath(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* at = &value;
  for (const auto key : path) {
    at = find(*at, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string textAt(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = findPath(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> intAt(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = findPath(value, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool boolAt(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = findPath(value, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const Json& listAt(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = findPath(value, path);
  return found != nullptr && found->is_array() ? *found : emptyArray();
}

const Json& objectAt(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = findPath(value, path);
  return found != nullptr && found->is_object() ? *found : emptyObject();
}

bool sameAt(const Json& a, const Json& b, std::initializer_list<std::string_view> path) {
  const Json* left = findPath(a, path);
  const Json* right = findPath(b, path);
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

void copyMember(Json& to, const Json& from, const std::string& key) {
  const Json* value = find(from, key);
  if (value == nullptr) {
    to.erase(key);
  } else {
    to[key] = *value;
  }
}

std::string dumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace trainyard::sim
