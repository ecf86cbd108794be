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

// A credential plug-in with everything needed to run it.
struct ExecPlugin {
  std::string command;  // a path, or a name to look up in PATH
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // added to the environment
  std::string apiVersion = "client.authentication.k8s.io/v1";
  std::string info = {};  // KUBERNETES_EXEC_INFO
  std::string installHint = {};
};

// The file paths of a TLS configuration's texts; empty for texts inside the kubeconfig.
struct TlsFiles {
  std::string ca = {};
  std::string certificate = {};
  std::string privateKey = {};
};

// The API server's address and the client's identity. All files are read except those that rotate.
struct ConnectionConfig {
  std::string source;           // for messages: "kubeconfig /h/.kube/config, context dev" or "in cluster"
  std::string server;           // "https://10.0.0.1:6443": no path
  std::string pathPrefix = {};  // "/k8s/clusters/c1" behind a proxy that serves several clusters
  std::string proxy = {};       // "http://proxy:3128": proxy-url, or the environment's; empty: none
  net::TlsClientConfig tls = {};
  TlsFiles tlsFiles = {};                         // read again by rereadTls
  std::string authorization = {};                 // a header value that never changes
  std::string tokenFile = {};                     // takes precedence over authorization
  std::optional<ExecPlugin> exec = std::nullopt;  // used if neither is set
  net::Headers headers = {};                      // impersonation
  std::string ns = "default";
};

struct ConfigSources {
  std::optional<std::string> kubeconfig = std::nullopt;  // a flag's value
  std::string context = {};                              // instead of current-context
  // Reads environment variables, replaceable for tests; nullopt if a variable is not set.
  std::function<std::optional<std::string>(const std::string& name)> environment = {};
  std::string serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Sources in order of precedence: the flag, $KUBECONFIG (for each name the first file), the pod's service
// account, ~/.kube/config. Without a proxy-url, the proxy of the environment is used. kInvalid names the file
// and the invalid key.
[[nodiscard]] base::Result<ConnectionConfig> loadConnectionConfig(const ConfigSources& sources);

// The address of requests, split: "https://host:6443/k8s" without its path, and the path.
struct ServerUrl {
  std::string url;
  std::string pathPrefix;
};
// kInvalid quotes the URL and names the error.
[[nodiscard]] base::Result<ServerUrl> parseServerUrl(const std::string& url);

// Returns `config.tls` with the current contents of its files. kInvalid names the file that cannot be read.
[[nodiscard]] base::Result<net::TlsClientConfig> rereadTls(const ConnectionConfig& config);

}  // namespace trainyard::kube
