#include "cli/json_text.h"

#include <array>

#include <fmt/format.h>
#include <re2/re2.h>
#include <nlohmann/json.hpp>

namespace trainyard::cli {
namespace {

using Json = nlohmann::ordered_json;

base::Result<Json> parse(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return base::fail(base::ErrorCode::kInvalid, "the answer is not JSON");
  return value;
}

// Returns true if every reader of YAML 1.1 parses the unquoted text as this text.
bool plain(const std::string& text) {
  static const re2::RE2 safe("[A-Za-z/][-A-Za-z0-9_./]*( [-A-Za-z0-9_./]+)*");
  static const re2::RE2 word("(?i)y|n|yes|no|on|off|true|false|null");
  return re2::RE2::FullMatch(text, safe) && !re2::RE2::FullMatch(text, word);
}

// A quoted text of JSON is also valid YAML.
std::string scalar(const Json& value) {
  if (value.is_string() && plain(value.get_ref<const std::string&>())) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(std::string& out, const Json& value, std::size_t indent);

// Writes the value after "key:" or "-".
void writeNested(std::string& out, const Json& value, std::size_t indent, bool inList) {
  if ((value.is_object() || value.is_array()) && !value.empty()) {
    if (inList && value.is_object()) {
      std::string text;
      write(text, value, indent);
      out += " " + text.substr(indent);
    } else {
      out += "\n";
      write(out, value, indent);
    }
    return;
  }
  out += fmt::format(" {}\n", scalar(value));
}

void write(std::string& out, const Json& value, std::size_t indent) {
  const std::string space(indent, ' ');
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) {
      out += space + scalar(key) + ":";
      // Lists have the indentation of their key, as kubectl writes them.
      writeNested(out, each, each.is_array() ? indent : indent + 2, false);
    }
  } else if (value.is_array()) {
    for (const Json& each : value) {
      out += space + "-";
      writeNested(out, each, indent + 2, true);
    }
  } else {
    out += space + scalar(value) + "\n";
  }
}

}  // namespace

base::Result<std::string> yamlOfJson(std::string_view json) {
  const auto value = parse(json);
  if (!value) return base::fail(value.error());
  std::string out;
  write(out, *value, 0);
  return out;
}

base::Result<std::string> namesOfJson(std::string_view json, std::string_view kind) {
  const auto value = parse(json);
  if (!value) return base::fail(value.error());
  std::string out;
  const auto add = [&](const Json& object) {
    const Json name =
        object.contains("metadata") ? object["metadata"].value("name", Json()) : object.value("name", Json());
    if (name.is_string()) out += fmt::format("{}/{}\n", kind, name.get_ref<const std::string&>());
  };
  if (value->contains("items")) {
    for (const Json& each : (*value)["items"]) add(each);
  } else if (value->is_object()) {
    add(*value);
  }
  return out;
}

}  // namespace trainyard::cli
