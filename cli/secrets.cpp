#include "cli/secrets.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>
#include <nlohmann/json.hpp>

namespace trainyard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRemoved = "(removed)";

// Annotations to keep: Kubernetes, Helm and Trainyard write them, and a diagnosis needs them.
constexpr std::array<std::string_view, 15> kKept = {"cluster-autoscaler.kubernetes.io/safe-to-evict",
                                                    "control-plane.alpha.kubernetes.io/leader",
                                                    "deployment.kubernetes.io/revision",
                                                    "kubernetes.io/config.source",
                                                    "meta.helm.sh/release-name",
                                                    "meta.helm.sh/release-namespace",
                                                    "node.alpha.kubernetes.io/ttl",
                                                    "scheduling.k8s.io/group-name",
                                                    "trainyard.dev/attempt",
                                                    "trainyard.dev/epoch",
                                                    "trainyard.dev/gang",
                                                    "trainyard.dev/membership",
                                                    "trainyard.dev/network",
                                                    "trainyard.dev/network-gbps",
                                                    "volumes.kubernetes.io/controller-managed-attach-detach"};

void replace(std::string& text, const re2::RE2& pattern, std::string_view by) {
  re2::RE2::GlobalReplace(&text, pattern, by);
}

// Removes keys and tokens of a well-known form. Searches whole texts, because a key has many lines.
void removeForms(std::string& text) {
  static const re2::RE2 key(
      R"re(-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----)re");
  // Keys without an end, and without a beginning: a log may be cut anywhere.
  static const re2::RE2 begun(
      R"re(-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?(-----)?((\s|\\[nr])*[A-Za-z0-9+/=]{16,})*)re");
  static const re2::RE2 ended(
      R"re(([A-Za-z0-9+/=]{4,}(\s|\\[nr])*)+-----END [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----)re");
  // "-----BEGIN" and "openssh-key" in base64, as Secrets hold them.
  static const re2::RE2 encoded(R"re((LS0tLS1CRUdJT|b3BlbnNzaC1rZX)[-A-Za-z0-9+/_]*=*)re");
  static const re2::RE2 webToken(R"re(\beyJ[-\w]{8,}\.[-\w]{8,}(\.[-\w]{8,})?)re");
  static const re2::RE2 known(
      R"re(\b(hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[-\w]{16,}|sk-[-\w]{16,}|)re"
      R"re(xox[abprs]-[-A-Za-z0-9]{8,}|A[KS]IA[0-9A-Z]{16}|AIza[-\w]{30,}|ya29\.[-\w]{16,}|nvapi-[-\w]{16,}))re");
  for (const re2::RE2* each : {&key, &begun, &ended, &encoded, &webToken, &known})
    replace(text, *each, kRemoved);
}

std::string lineWithoutSecrets(std::string_view line) {
  static const re2::RE2 named(
      R"re((?i)([-_a-z0-9]*(?:passwo?r?d|secret|token|api[-_]?key|access[-_]?key|credential)[-_a-z0-9]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"']+))re");
  // Only a flag with its value: "tokens per second" is no secret.
  static const re2::RE2 flag(
      R"re((?i)((?:^|[\s\[,"'])-{1,2}[-_a-z0-9]*(?:passwo?r?d|secret|token|api[-_]?key|access[-_]?key|credential)[-_a-z0-9]*["']?[\s,]+)("[^"]*"|'[^']*'|[^-\s"'\]][^\s,;&"'\]]*))re");
  static const re2::RE2 user(R"re(((?:^|\s)(?:-u|--user)[\s=]+["']?[^\s:"']+):[^\s"']+)re");
  static const re2::RE2 bearer(R"re((?i)(bearer|basic)\s+[-A-Za-z0-9._~+/=]{8,})re");
  static const re2::RE2 inUrl(R"re(([a-zA-Z][-+.a-zA-Z0-9]*://[^/\s:@]*):[^/\s@]+@)re");
  std::string text(line);
  replace(text, named, "\\1(removed)");
  replace(text, flag, "\\1(removed)");
  replace(text, user, "\\1:(removed)");
  replace(text, bearer, "\\1 (removed)");
  replace(text, inUrl, "\\1:(removed)@");
  return text;
}

// A flag and its value may be two elements: "--token" and the token, curl's "-u" and "user:password".
void cleanWords(Json& list) {
  static const re2::RE2 flag(
      R"re((?i)-{1,2}[-_a-z0-9]*(?:passwo?r?d|secret|token|api[-_]?key|access[-_]?key|credential)[-_a-z0-9]*)re");
  bool isValue = false;
  for (Json& each : list) {
    if (!each.is_string()) continue;
    const std::string word = each.get<std::string>();
    each = isValue && !word.starts_with('-') ? std::string(kRemoved) : textWithoutSecrets(word);
    isValue = re2::RE2::FullMatch(word, flag) || word == "-u" || word == "--user";
  }
}

// "--epochs=3" keeps its name; a short flag with a value, such as "-p3", keeps its letter.
std::string nameOfArgument(const std::string& word) {
  static const re2::RE2 name(R"re((--[A-Za-z][-_.A-Za-z0-9]{0,40}|-[A-Za-z])(=?)([\s\S]*))re");
  std::string flag;
  std::string equals;
  std::string rest;
  if (!re2::RE2::FullMatch(word, name, &flag, &equals, &rest)) return std::string(kRemoved);
  return rest.empty() && equals.empty() ? flag : flag + equals + std::string(kRemoved);
}

std::string nameOfProgram(const std::string& word) {
  static const re2::RE2 path(R"re([-_./A-Za-z0-9]{1,80})re");
  return re2::RE2::FullMatch(word, path) && !word.starts_with('-') ? textWithoutSecrets(word)
                                                                   : nameOfArgument(word);
}

class Cleaner {
 public:
  explicit Cleaner(Arguments arguments) : arguments_(arguments) {}

  void clean(Json& value) const {
    if (value.is_array()) {
      for (Json& each : value) {
        if (each.is_string()) each = textWithoutSecrets(each.get_ref<const std::string&>());
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

 private:
  void cleanMember(const std::string& key, Json& value) const {
    if ((key == "env" || key == "httpHeaders") && value.is_array()) return removeValues(value);
    if ((key == "volumeAttributes" || key == "options" || key == "parameters") && value.is_object()) {
      for (Json& each : value) each = kRemoved;
      return;
    }
    if ((key == "command" || key == "args") && value.is_array()) return cleanArguments(key, value);
    if (key == "annotations" && value.is_object()) cleanAnnotations(value);
    // Keys such as "secretName" only refer to a secret, and are kept.
    static const re2::RE2 secret(
        R"re((?i).*(?:passwo?r?d|api[-_]?key|access[-_]?key|credentials?|(?:^|[-_./])(?:token|secret)))re");
    if (value.is_string()) {
      value = re2::RE2::FullMatch(key, secret) ? std::string(kRemoved)
                                               : textWithoutSecrets(value.get_ref<const std::string&>());
    }
    clean(value);
  }

  static void removeValues(Json& list) {
    for (Json& each : list) {
      if (each.is_object() && each.contains("value")) each["value"] = kRemoved;
    }
  }

  void cleanArguments(const std::string& key, Json& list) const {
    if (arguments_ == Arguments::kKeep) return cleanWords(list);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_string()) continue;
      const std::string word = list[i].get<std::string>();
      list[i] = key == "command" && i == 0 ? nameOfProgram(word) : nameOfArgument(word);
    }
  }

  void cleanAnnotations(Json& annotations) const {
    if (arguments_ == Arguments::kKeep) return;
    for (auto each = annotations.begin(); each != annotations.end(); ++each) {
      if (std::find(kKept.begin(), kKept.end(), each.key()) == kKept.end()) each.value() = kRemoved;
    }
  }

  Arguments arguments_;
};

}  // namespace

base::Result<std::string> withoutSecrets(std::string_view json, Arguments arguments) {
  Json value = Json::parse(json, nullptr, false);
  if (value.is_discarded()) return base::fail(base::ErrorCode::kInvalid, "the answer is not JSON");
  Cleaner(arguments).clean(value);
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string textWithoutSecrets(std::string_view text) {
  std::string whole(text);
  removeForms(whole);
  std::string clean;
  for (std::string_view left = whole;;) {
    const std::size_t end = left.find('\n');
    clean += lineWithoutSecrets(left.substr(0, end));
    if (end == std::string_view::npos) return clean;
    clean += '\n';
    left.remove_prefix(end + 1);
  }
}

}  // namespace trainyard::cli
