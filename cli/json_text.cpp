#include "cli/json_text.h"

#include <array>

#include <fmt/format.h>
#include <re2/re2.h>
#include <nlohmann/json.hpp>

namespace trainyard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRemoved = "(removed)";

base::Result<Json> parse(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return base::fail(base::ErrorCode::kInvalid, "the answer is no JSON");
  return value;
}

// Plain where no reader of YAML 1.1 takes it for anything but this text.
bool plain(const std::string& text) {
  static const re2::RE2 safe("[A-Za-z/][-A-Za-z0-9_./]*( [-A-Za-z0-9_./]+)*");
  static const re2::RE2 word("(?i)y|n|yes|no|on|off|true|false|null");
  return re2::RE2::FullMatch(text, safe) && !re2::RE2::FullMatch(text, word);
}

// JSON's quoted text is one of YAML's, too.
std::string scalar(const Json& value) {
  if (value.is_string() && plain(value.get_ref<const std::string&>())) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(std::string& out, const Json& value, std::size_t indent);

// What stands behind "key:" or "-".
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
      // Lists stand under their key without further indentation, as kubectl writes them.
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

void clean(Json& value);

void cleanValues(Json& list) {
  for (Json& each : list) {
    if (each.is_object() && each.contains("value")) each["value"] = kRemoved;
  }
}

// "--token" and its value are two words, and so are curl's "-u" and "user:password".
void cleanWords(Json& list) {
  static const re2::RE2 flag(
      R"re((?i)-{1,2}[-_a-z0-9]*(?:passwo?r?d|secret|token|api[-_]?key|access[-_]?key|credential)[-_a-z0-9]*)re");
  bool isValue = false;
  for (Json& each : list) {
    if (!each.is_string()) continue;
    const std::string word = each.get<std::string>();
    each = isValue && !word.starts_with('-') ? std::string(kRemoved) : lineWithoutSecrets(word);
    isValue = re2::RE2::FullMatch(word, flag) || word == "-u" || word == "--user";
  }
}

void cleanMember(const std::string& key, Json& value) {
  if ((key == "env" || key == "httpHeaders") && value.is_array()) return cleanValues(value);
  if (key == "volumeAttributes" && value.is_object()) {
    for (Json& each : value) each = kRemoved;
    return;
  }
  if ((key == "command" || key == "args") && value.is_array()) return cleanWords(value);
  // Not "secretName" and the like, which only name one.
  static const re2::RE2 secret(
      R"re((?i).*(?:passwo?r?d|api[-_]?key|access[-_]?key|credentials?|(?:^|[-_./])(?:token|secret)))re");
  if (value.is_string()) {
    value = re2::RE2::FullMatch(key, secret) ? std::string(kRemoved)
                                             : lineWithoutSecrets(value.get_ref<const std::string&>());
  }
  clean(value);
}

void clean(Json& value) {
  if (value.is_array()) {
    for (Json& each : value) {
      if (each.is_string()) each = lineWithoutSecrets(each.get_ref<const std::string&>());
      clean(each);
    }
  }
  if (!value.is_object()) return;
  if (value.value("kind", Json()) == "Secret") {
    for (const char* key : {"data", "stringData"}) {
      if (value.contains(key)) value[key] = kRemoved;
    }
  }
  value.erase("managedFields");
  value.erase("kubectl.kubernetes.io/last-applied-configuration");
  for (auto each = value.begin(); each != value.end(); ++each) cleanMember(each.key(), each.value());
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

base::Result<std::string> withoutSecrets(std::string_view json) {
  auto value = parse(json);
  if (!value) return base::fail(value.error());
  clean(*value);
  return value->dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string lineWithoutSecrets(std::string_view line) {
  static const re2::RE2 named(
      R"re((?i)([-_a-z0-9]*(?:passwo?r?d|secret|token|api[-_]?key|access[-_]?key|credential)[-_a-z0-9]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"']+))re");
  // As a flag with its value: "tokens per second" is no secret.
  static const re2::RE2 flag(
      R"re((?i)((?:^|[\s\[,"'])-{1,2}[-_a-z0-9]*(?:passwo?r?d|secret|token|api[-_]?key|access[-_]?key|credential)[-_a-z0-9]*["']?[\s,]+)("[^"]*"|'[^']*'|[^-\s"'\]][^\s,;&"'\]]*))re");
  static const re2::RE2 user(R"re(((?:^|\s)(?:-u|--user)[\s=]+["']?[^\s:"']+):[^\s"']+)re");
  static const re2::RE2 bearer(R"re((?i)(bearer|basic)\s+[-A-Za-z0-9._~+/=]{8,})re");
  static const re2::RE2 inUrl(R"re(([a-zA-Z][-+.a-zA-Z0-9]*://[^/\s:@]+):[^/\s@]+@)re");
  std::string text(line);
  re2::RE2::GlobalReplace(&text, named, "\\1(removed)");
  re2::RE2::GlobalReplace(&text, flag, "\\1(removed)");
  re2::RE2::GlobalReplace(&text, user, "\\1:(removed)");
  re2::RE2::GlobalReplace(&text, bearer, "\\1 (removed)");
  re2::RE2::GlobalReplace(&text, inUrl, "\\1:(removed)@");
  return text;
}

}  // namespace trainyard::cli
