#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::codec {

// The parts of a kubeconfig that a client needs. "…Data" fields are decoded from base64; paths are kept as
// written. Entries keep the name of their file, which relative paths start from.

struct KubeconfigCluster {
  std::string name;
  std::string file;
  std::string server;
  std::string tlsServerName = {};
  bool insecureSkipTlsVerify = false;
  std::string certificateAuthority = {};
  std::string certificateAuthorityData = {};
  std::string proxyUrl = {};
};

struct KubeconfigExec {
  std::string apiVersion;
  std::string command;
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  bool provideClusterInfo = false;
  std::string interactiveMode = {};
  std::string installHint = {};
};

struct KubeconfigUser {
  std::string name;
  std::string file;
  std::string clientCertificate = {};
  std::string clientCertificateData = {};
  std::string clientKey = {};
  std::string clientKeyData = {};
  std::string token = {};
  std::string tokenFile = {};
  std::string username = {};
  std::string password = {};
  std::string as = {};
  std::string asUid = {};
  std::vector<std::string> asGroups = {};
  std::vector<std::pair<std::string, std::string>> asUserExtra = {};  // one pair per value
  std::optional<KubeconfigExec> exec = std::nullopt;
  std::string authProvider = {};  // name of a legacy plug-in
};

struct KubeconfigContext {
  std::string name;
  std::string file;
  std::string cluster;
  std::string user = {};
  std::string ns = {};
};

struct Kubeconfig {
  std::string currentContext = {};
  std::vector<KubeconfigCluster> clusters = {};
  std::vector<KubeconfigUser> users = {};
  std::vector<KubeconfigContext> contexts = {};

  [[nodiscard]] const KubeconfigCluster* findCluster(std::string_view name) const;
  [[nodiscard]] const KubeconfigUser* findUser(std::string_view name) const;
  [[nodiscard]] const KubeconfigContext* findContext(std::string_view name) const;
  // Adds the entries of `other` that are missing here: for each name, the first file takes precedence.
  void merge(Kubeconfig other);
};

// Reads YAML or JSON. kInvalid names `file` and the key: "/h/.kube/config: clusters[1].cluster.server: …".
// Unknown keys are skipped, because other programs keep theirs in the same file; duplicate keys are refused.
[[nodiscard]] base::Result<Kubeconfig> decodeKubeconfig(const std::string& yaml, const std::string& file);

}  // namespace trainyard::codec
