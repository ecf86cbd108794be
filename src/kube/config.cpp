#include "kube/config.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "codec/base64.h"
#include "codec/exec_credential.h"
#include "codec/kubeconfig.h"
#include "kube/proxy_environment.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;
using base::Result;
namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 8u << 20;

tl::unexpected<base::Error> refuse(std::string message) {
  return base::fail(ErrorCode::kInvalid, std::move(message));
}

Result<std::string> readFile(const std::string& path) {
  // Reading from a pipe would block until another process writes into it.
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    return refuse(fmt::format("{}: is not a regular file", path));
  return base::readFile(path, kMaxFileBytes);
}

std::string environment(const ConfigSources& sources, const std::string& name) {
  if (sources.environment) return sources.environment(name).value_or("");
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

std::string resolve(const std::string& path, const std::string& kubeconfigFile) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  return (fs::absolute(kubeconfigFile).parent_path() / path).lexically_normal().string();
}

// Returns the inline data, or the contents of the file; `noted` gets the file's path. "-data" takes
// precedence over the path, as in kubectl.
Result<std::string> dataOrFile(const std::string& data, const std::string& path,
                               const std::string& kubeconfigFile, const std::string& key,
                               std::string& noted) {
  if (!data.empty() || path.empty()) return data;
  noted = resolve(path, kubeconfigFile);
  auto text = readFile(noted);
  if (!text) return refuse(fmt::format("{}: {}: {}", kubeconfigFile, key, text.error().message));
  return text;
}

Result<void> useCluster(const codec::KubeconfigCluster& cluster, ConnectionConfig& config) {
  const std::string at = fmt::format("{}: cluster {}", cluster.file, cluster.name);
  auto server = parseServerUrl(cluster.server);
  if (!server) return refuse(fmt::format("{}: server: {}", at, server.error().message));
  auto ca = dataOrFile(cluster.certificateAuthorityData, cluster.certificateAuthority, cluster.file,
                       fmt::format("cluster {}: certificate-authority", cluster.name), config.tlsFiles.ca);
  if (!ca) return base::fail(ca.error());
  if (cluster.insecureSkipTlsVerify && !ca->empty()) {
    return refuse(fmt::format("{}: insecure-skip-tls-verify contradicts certificate-authority", at));
  }
  config.server = std::move(server->url);
  config.pathPrefix = std::move(server->pathPrefix);
  config.proxy = cluster.proxyUrl;
  config.tls.caPem = std::move(*ca);
  config.tls.serverName = cluster.tlsServerName;
  config.tls.insecureSkipVerify = cluster.insecureSkipTlsVerify;
  return {};
}

Result<ExecPlugin> readPlugin(const codec::KubeconfigExec& exec, const codec::KubeconfigUser& user,
                              const codec::KubeconfigCluster& cluster, const ConnectionConfig& config) {
  if (exec.interactiveMode == "Always") {
    return refuse(
        fmt::format("{}: user {}: exec.interactiveMode: Always needs a terminal, which is not supported",
                    user.file, user.name));
  }
  std::optional<codec::ExecClusterInfo> info;
  if (exec.provideClusterInfo) {
    info = codec::ExecClusterInfo{cluster.server, config.tls.serverName, config.tls.insecureSkipVerify,
                                  config.tls.caPem};
  }
  // A name without a slash is looked up in PATH; a name with a slash is a path like all others in the file.
  const bool isPath = exec.command.find('/') != std::string::npos;
  return ExecPlugin{.command = isPath ? resolve(exec.command, user.file) : exec.command,
                    .args = exec.args,
                    .env = exec.env,
                    .apiVersion = exec.apiVersion,
                    .info = codec::encodeExecInfo(exec.apiVersion, info),
                    .installHint = exec.installHint};
}

net::Headers impersonation(const codec::KubeconfigUser& user) {
  net::Headers headers;
  if (!user.as.empty()) headers.emplace_back("Impersonate-User", user.as);
  if (!user.asUid.empty()) headers.emplace_back("Impersonate-Uid", user.asUid);
  for (const std::string& group : user.asGroups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, value] : user.asUserExtra) headers.emplace_back("Impersonate-Extra-" + key, value);
  return headers;
}

bool hasLineBreak(const std::string& text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
}

Result<void> useUser(const codec::KubeconfigUser& user, const codec::KubeconfigCluster& cluster,
                     ConnectionConfig& config) {
  const std::string at = fmt::format("{}: user {}", user.file, user.name);
  if (!user.authProvider.empty()) {
    return refuse(fmt::format("{}: auth-provider {} is not supported: use exec", at, user.authProvider));
  }
  auto certificate =
      dataOrFile(user.clientCertificateData, user.clientCertificate, user.file,
                 fmt::format("user {}: client-certificate", user.name), config.tlsFiles.certificate);
  if (!certificate) return base::fail(certificate.error());
  auto key = dataOrFile(user.clientKeyData, user.clientKey, user.file,
                        fmt::format("user {}: client-key", user.name), config.tlsFiles.privateKey);
  if (!key) return base::fail(key.error());
  if (certificate->empty() != key->empty()) {
    return refuse(fmt::format("{}: client-certificate and client-key must be given together", at));
  }
  config.tls.certificatePem = std::move(*certificate);
  config.tls.privateKeyPem = std::move(*key);

  config.headers = impersonation(user);
  if (user.as.empty() && !config.headers.empty()) return refuse(fmt::format("{}: as-… needs as", at));
  std::set<std::string_view> names;
  for (const auto& [name, value] : config.headers) {
    if (hasLineBreak(name) || hasLineBreak(value)) {
      return refuse(fmt::format("{}: as…: more than one line", at));
    }
    // The HTTP client joins equal headers by commas, which the API server would read as a single name.
    if (!names.insert(name).second) {
      return refuse(fmt::format("{}: several values of {} are not supported", at, name));
    }
  }
  if (hasLineBreak(user.token)) return refuse(fmt::format("{}: token: more than one line", at));
  if (!user.tokenFile.empty()) {
    config.tokenFile = resolve(user.tokenFile, user.file);
  } else if (!user.token.empty()) {
    config.authorization = "Bearer " + user.token;
  } else if (!user.username.empty()) {
    config.authorization = "Basic " + codec::encodeBase64(fmt::format("{}:{}", user.username, user.password));
  } else if (user.exec) {
    auto plugin = readPlugin(*user.exec, user, cluster, config);
    if (!plugin) return base::fail(plugin.error());
    config.exec = std::move(*plugin);
  }
  return {};
}

Result<ConnectionConfig> connect(const codec::Kubeconfig& kubeconfig, const std::string& files,
                                 const std::string& wanted) {
  const std::string& name = wanted.empty() ? kubeconfig.currentContext : wanted;
  if (name.empty()) return refuse(fmt::format("{}: current-context is missing", files));
  const auto* context = kubeconfig.findContext(name);
  if (context == nullptr) return refuse(fmt::format("{}: contexts has no \"{}\"", files, name));
  const auto* cluster = kubeconfig.findCluster(context->cluster);
  if (cluster == nullptr) {
    return refuse(
        fmt::format("{}: context {}: clusters has no \"{}\"", context->file, name, context->cluster));
  }
  ConnectionConfig config{.source = fmt::format("kubeconfig {}, context {}", files, name), .server = {}};
  if (!context->ns.empty()) config.ns = context->ns;
  if (auto used = useCluster(*cluster, config); !used) return base::fail(used.error());
  if (context->user.empty()) return config;
  const auto* user = kubeconfig.findUser(context->user);
  if (user == nullptr) {
    return refuse(fmt::format("{}: context {}: users has no \"{}\"", context->file, name, context->user));
  }
  if (auto used = useUser(*user, *cluster, config); !used) return base::fail(used.error());
  return config;
}

Result<ConnectionConfig> fromFile(const std::string& path, const std::string& context) {
  const auto text = readFile(path);
  if (!text) return base::fail(text.error());
  const auto kubeconfig = codec::decodeKubeconfig(*text, path);
  if (!kubeconfig) return base::fail(kubeconfig.error());
  return connect(*kubeconfig, path, context);
}

// Reads $KUBECONFIG: missing files of the list are skipped, as long as one exists.
Result<ConnectionConfig> fromList(const std::string& list, const std::string& context) {
  codec::Kubeconfig merged;
  bool any = false;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::string path = list.substr(begin, end - begin);
    begin = end + 1;
    std::error_code error;
    if (path.empty() || !fs::exists(path, error)) continue;
    const auto text = readFile(path);
    if (!text) return base::fail(text.error());
    auto kubeconfig = codec::decodeKubeconfig(*text, path);
    if (!kubeconfig) return base::fail(kubeconfig.error());
    merged.merge(std::move(*kubeconfig));
    any = true;
  }
  if (!any) return refuse(fmt::format("KUBECONFIG={}: no such file", list));
  return connect(merged, list, context);
}

Result<ConnectionConfig> inCluster(const ConfigSources& sources, const std::string& host) {
  const std::string port = environment(sources, "KUBERNETES_SERVICE_PORT");
  if (port.empty()) return refuse("KUBERNETES_SERVICE_PORT is not set, but KUBERNETES_SERVICE_HOST is");
  const std::string& folder = sources.serviceAccountFolder;
  const std::string caFile = folder + "/ca.crt";
  auto ca = readFile(caFile);
  if (!ca) return refuse(fmt::format("in cluster: {}", ca.error().message));
  std::error_code error;
  if (!fs::exists(folder + "/token", error))
    return refuse(fmt::format("in cluster: {}/token: no such file", folder));
  ConnectionConfig config{.source = "in cluster", .server = {}};
  const bool isIpv6 = host.find(':') != std::string::npos;
  config.server =
      isIpv6 ? fmt::format("https://[{}]:{}", host, port) : fmt::format("https://{}:{}", host, port);
  config.tls.caPem = std::move(*ca);
  config.tlsFiles.ca = caFile;
  config.tokenFile = folder + "/token";
  if (auto ns = readFile(folder + "/namespace"); ns && !ns->empty()) {
    config.ns = ns->substr(0, ns->find_first_of("\r\n"));
  }
  return config;
}

Result<ConnectionConfig> fromSources(const ConfigSources& sources) {
  if (sources.kubeconfig) return fromFile(*sources.kubeconfig, sources.context);
  if (const std::string list = environment(sources, "KUBECONFIG"); !list.empty()) {
    return fromList(list, sources.context);
  }
  if (const std::string host = environment(sources, "KUBERNETES_SERVICE_HOST"); !host.empty()) {
    return inCluster(sources, host);
  }
  const std::string home = environment(sources, "HOME");
  std::error_code error;
  if (const std::string path = home + "/.kube/config"; !home.empty() && fs::exists(path, error)) {
    return fromFile(path, sources.context);
  }
  return refuse("no API server known: pass --kubeconfig, set KUBECONFIG, or run in a pod");
}

}  // namespace

Result<ServerUrl> parseServerUrl(const std::string& url) {
  const auto scheme = url.find("://");
  const std::string name = scheme == std::string::npos ? "" : url.substr(0, scheme);
  if (name != "https" && name != "http")
    return refuse(fmt::format("\"{}\" must begin with https:// or http://", url));
  const auto slash = url.find('/', scheme + 3);
  ServerUrl server{url.substr(0, slash), slash == std::string::npos ? "" : url.substr(slash)};
  while (!server.pathPrefix.empty() && server.pathPrefix.back() == '/') server.pathPrefix.pop_back();
  if (server.url.size() == scheme + 3) return refuse(fmt::format("\"{}\" has no host", url));
  if (url.find_first_of("?#@ ") != std::string::npos) {
    return refuse(fmt::format("\"{}\" may have a scheme, host, port and path, nothing else", url));
  }
  return server;
}

Result<ConnectionConfig> loadConnectionConfig(const ConfigSources& sources) {
  auto config = fromSources(sources);
  if (config && config->proxy.empty()) {
    config->proxy = proxyFromEnvironment(config->server,
                                         [&](const std::string& name) { return environment(sources, name); });
  }
  return config;
}

Result<net::TlsClientConfig> rereadTls(const ConnectionConfig& config) {
  net::TlsClientConfig tls = config.tls;
  const auto reread = [](const std::string& path, std::string& text) -> Result<void> {
    if (path.empty()) return {};
    auto read = readFile(path);
    if (!read) return base::fail(read.error());
    text = std::move(*read);
    return {};
  };
  if (auto ca = reread(config.tlsFiles.ca, tls.caPem); !ca) return base::fail(ca.error());
  if (auto chain = reread(config.tlsFiles.certificate, tls.certificatePem); !chain) {
    return base::fail(chain.error());
  }
  if (auto key = reread(config.tlsFiles.privateKey, tls.privateKeyPem); !key) return base::fail(key.error());
  // A file that is being written may be empty, and an empty CA would mean the system's CAs.
  if (!config.tlsFiles.ca.empty() && tls.caPem.empty()) return refuse(config.tlsFiles.ca + ": is empty");
  return tls;
}

}  // namespace trainyard::kube
