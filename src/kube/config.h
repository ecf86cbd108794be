#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/http.h"
#include "net/tls.h"

namespace trainyard::kube {

// A credential plug-in, ready to run.
struct ExecPlugin {
  std::string command;  // a path, or a name to look up in PATH
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // added to ours
  std::string apiVersion = "client.authentication.k8s.io/v1";
  std::string info = {};  // KUBERNETES_EXEC_INFO
  std::string installHint = {};
};

// Where the texts of a TLS configuration came from; empty where they stand in the kubeconfig itself.
struct TlsFiles {
  std::string ca = {};
  std::string certificate = {};
  std::string privateKey = {};
};

// Where the API server is and who we are, files read except those that rotate.
struct ConnectionConfig {
  std::string source;           // for messages: "kubeconfig /h/.kube/config, context dev" or "in cluster"
  std::string server;           // "https://10.0.0.1:6443": no path
  std::string pathPrefix = {};  // "/k8s/clusters/c1" where a proxy serves several clusters
  std::string proxy = {};       // "http://proxy:3128": proxy-url, else the environment's; empty: none
  net::TlsClientConfig tls = {};
  TlsFiles tlsFiles = {};                         // to be read again by rereadTls
  std::string authorization = {};                 // header value that never changes
  std::string tokenFile = {};                     // wins over authorization
  std::optional<ExecPlugin> exec = std::nullopt;  // used when neither is set
  net::Headers headers = {};                      // impersonation
  std::string ns = "default";
};

struct ConfigSources {
  std::optional<std::string> kubeconfig = std::nullopt;  // a flag's value
  std::string context = {};                              // instead of current-context
  // Environment variables, replaceable for tests; nothing when unset.
  std::function<std::optional<std::string>(const std::string& name)> environment = {};
  std::string serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// In this order: the flag, $KUBECONFIG (several files, the first wins per name), the pod's service account,
// ~/.kube/config. A proxy that no proxy-url names may be the environment's. kInvalid names the file and the
// key that cannot be used.
[[nodiscard]] base::Result<ConnectionConfig> loadConnectionConfig(const ConfigSources& sources);

// An address that requests go to: "https://host:6443/k8s" without its path, and the path.
struct ServerUrl {
  std::string url;
  std::string pathPrefix;
};
// kInvalid quotes it and says what is wrong.
[[nodiscard]] base::Result<ServerUrl> parseServerUrl(const std::string& url);

// `config.tls` with what its files hold now. kInvalid names the file that cannot be read.
[[nodiscard]] base::Result<net::TlsClientConfig> rereadTls(const ConnectionConfig& config);

}  // namespace trainyard::kube
