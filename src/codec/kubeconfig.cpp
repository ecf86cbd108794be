#include "codec/kubeconfig.h"

#include <algorithm>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "codec/base64.h"
#include "codec/yaml_scalar.h"

namespace trainyard::codec {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxBytes = 8u << 20;

// A YAML node with its path. Only requested keys are visited, so nested aliases cannot cause exponential
// work. The first complaint is kept; readers continue with defaults after it.
class YamlField {
 public:
  YamlField(const YAML::Node& node, std::string path, std::string& complaint)
      : node_(node), path_(std::move(path)), complaint_(&complaint) {}

  [[nodiscard]] bool present() const { return node_.IsDefined() && !node_.IsNull(); }

  [[nodiscard]] YamlField operator[](const std::string& key) const {
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (!present()) return {YAML::Node(YAML::NodeType::Null), path, *complaint_};
    if (!node_.IsMap()) {
      complain("expected a map");
      return {YAML::Node(YAML::NodeType::Null), path, *complaint_};
    }
    std::optional<YAML::Node> found;
    for (const auto& entry : node_) {
      if (!entry.first.IsScalar() || entry.first.Scalar() != key) continue;
      if (found) complain(fmt::format("key \"{}\" occurs twice", key));
      found = entry.second;
    }
    return {found.value_or(YAML::Node(YAML::NodeType::Null)), path, *complaint_};
  }

  // Numbers are returned as they are spelled: a token that consists of digits is still a token.
  [[nodiscard]] std::string text() const {
    if (!present()) return "";
    if (node_.IsScalar()) return node_.Scalar();
    complain("expected a text");
    return "";
  }

  [[nodiscard]] std::string required() const {
    std::string value = text();
    if (value.empty()) complain("is missing");
    return value;
  }

  [[nodiscard]] bool boolean() const {
    const YamlScalar scalar = readYamlScalar(text());
    if (scalar.kind == YamlScalar::Kind::kBool) return scalar.json == "true";
    if (scalar.kind != YamlScalar::Kind::kNull) complain("expected true or false");
    return false;
  }

  [[nodiscard]] std::string base64() const {
    auto bytes = decodeBase64(text());
    if (bytes) return std::move(*bytes);
    complain(bytes.error().message);
    return "";
  }

  template <typename Visit>
  void forEach(Visit visit) const {
    if (!present()) return;
    if (!node_.IsSequence()) {
      complain("expected a list");
      return;
    }
    for (std::size_t i = 0; i < node_.size(); ++i) {
      visit(YamlField(node_[i], fmt::format("{}[{}]", path_, i), *complaint_));
    }
  }

  template <typename Visit>
  void forEachMember(Visit visit) const {
    if (!present()) return;
    if (!node_.IsMap()) {
      complain("expected a map");
      return;
    }
    for (const auto& entry : node_) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
      visit(key, YamlField(entry.second, fmt::format("{}.{}", path_, key), *complaint_));
    }
  }

  void complain(std::string_view what) const {
    if (complaint_->empty())
      *complaint_ = path_.empty() ? std::string(what) : fmt::format("{}: {}", path_, what);
  }

 private:
  YAML::Node node_;
  std::string path_;
  std::string* complaint_;
};

std::vector<std::string> readTexts(const YamlField& field) {
  std::vector<std::string> texts;
  field.forEach([&](const YamlField& entry) { texts.push_back(entry.text()); });
  return texts;
}

KubeconfigCluster readCluster(const YamlField& entry, const std::string& file) {
  const YamlField body = entry["cluster"];
  return {.name = entry["name"].required(),
          .file = file,
          .server = body["server"].required(),
          .tlsServerName = body["tls-server-name"].text(),
          .insecureSkipTlsVerify = body["insecure-skip-tls-verify"].boolean(),
          .certificateAuthority = body["certificate-authority"].text(),
          .certificateAuthorityData = body["certificate-authority-data"].base64(),
          .proxyUrl = body["proxy-url"].text()};
}

std::optional<KubeconfigExec> readExec(const YamlField& body) {
  if (!body.present()) return std::nullopt;
  KubeconfigExec exec{.apiVersion = body["apiVersion"].required(),
                      .command = body["command"].required(),
                      .args = readTexts(body["args"]),
                      .provideClusterInfo = body["provideClusterInfo"].boolean(),
                      .interactiveMode = body["interactiveMode"].text(),
                      .installHint = body["installHint"].text()};
  body["env"].forEach([&](const YamlField& entry) {
    exec.env.emplace_back(entry["name"].required(), entry["value"].text());
  });
  if (exec.apiVersion != "client.authentication.k8s.io/v1" &&
      exec.apiVersion != "client.authentication.k8s.io/v1beta1") {
    body["apiVersion"].complain(fmt::format(
        "\"{}\" is not supported: use client.authentication.k8s.io/v1 or v1beta1", exec.apiVersion));
  }
  return exec;
}

KubeconfigUser readUser(const YamlField& entry, const std::string& file) {
  const YamlField body = entry["user"];
  KubeconfigUser user{.name = entry["name"].required(),
                      .file = file,
                      .clientCertificate = body["client-certificate"].text(),
                      .clientCertificateData = body["client-certificate-data"].base64(),
                      .clientKey = body["client-key"].text(),
                      .clientKeyData = body["client-key-data"].base64(),
                      .token = body["token"].text(),
                      .tokenFile = body["tokenFile"].text(),
                      .username = body["username"].text(),
                      .password = body["password"].text(),
                      .as = body["as"].text(),
                      .asUid = body["as-uid"].text(),
                      .asGroups = readTexts(body["as-groups"]),
                      .exec = readExec(body["exec"]),
                      .authProvider = body["auth-provider"]["name"].text()};
  body["as-user-extra"].forEachMember([&](const std::string& key, const YamlField& values) {
    for (std::string& value : readTexts(values)) user.asUserExtra.emplace_back(key, std::move(value));
  });
  return user;
}

KubeconfigContext readContext(const YamlField& entry, const std::string& file) {
  const YamlField body = entry["context"];
  return {.name = entry["name"].required(),
          .file = file,
          .cluster = body["cluster"].required(),
          .user = body["user"].text(),
          .ns = body["namespace"].text()};
}

Kubeconfig readAll(const YamlField& root, const std::string& file) {
  Kubeconfig config;
  const std::string kind = root["kind"].text();
  if (!kind.empty() && kind != "Config")
    root["kind"].complain(fmt::format("expected Config, is \"{}\"", kind));
  config.currentContext = root["current-context"].text();
  root["clusters"].forEach([&](const YamlField& e) { config.clusters.push_back(readCluster(e, file)); });
  root["users"].forEach([&](const YamlField& e) { config.users.push_back(readUser(e, file)); });
  root["contexts"].forEach([&](const YamlField& e) { config.contexts.push_back(readContext(e, file)); });
  return config;
}

template <typename Entry>
const Entry* findIn(const std::vector<Entry>& entries, std::string_view name) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return at == entries.end() ? nullptr : &*at;
}

template <typename Entry>
void addMissing(std::vector<Entry>& into, std::vector<Entry>& from) {
  for (Entry& entry : from) {
    if (findIn(into, entry.name) == nullptr) into.push_back(std::move(entry));
  }
}

}  // namespace

const KubeconfigCluster* Kubeconfig::findCluster(std::string_view name) const {
  return findIn(clusters, name);
}
const KubeconfigUser* Kubeconfig::findUser(std::string_view name) const { return findIn(users, name); }
const KubeconfigContext* Kubeconfig::findContext(std::string_view name) const {
  return findIn(contexts, name);
}

void Kubeconfig::merge(Kubeconfig other) {
  if (currentContext.empty()) currentContext = std::move(other.currentContext);
  addMissing(clusters, other.clusters);
  addMissing(users, other.users);
  addMissing(contexts, other.contexts);
}

base::Result<Kubeconfig> decodeKubeconfig(const std::string& yaml, const std::string& file) {
  const auto refuse = [&](std::string_view why) {
    return base::fail(ErrorCode::kInvalid, fmt::format("{}: {}", file, why));
  };
  if (yaml.size() > kMaxBytes) return refuse("larger than 8 MiB");
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (root.IsNull()) return Kubeconfig{};  // kubectl may leave empty files
    if (!root.IsMap()) return refuse("expected a map at the top");
    std::string complaint;
    Kubeconfig config = readAll(YamlField(root, "", complaint), file);
    if (!complaint.empty()) return refuse(complaint);
    return config;
  } catch (const YAML::Exception& error) {
    return refuse(error.what());
  }
}

}  // namespace trainyard::codec
