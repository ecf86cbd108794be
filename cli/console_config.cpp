#include "cli/console_config.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "kube/proxy_environment.h"

namespace trainyard::cli {
namespace {

tl::unexpected<base::Error> refuse(std::string message) {
  return base::fail(base::ErrorCode::kInvalid, std::move(message));
}

bool isLoopback(std::string_view host) {
  host = host.substr(0, host.starts_with('[') ? host.find(']') + 1 : host.find(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

bool hasToken(const kube::ConnectionConfig& user) {
  return user.authorization.starts_with("Bearer ") || !user.tokenFile.empty() ||
         (user.exec && user.authorization.empty());
}

}  // namespace

base::Result<kube::ConnectionConfig> consoleConfig(
    const kube::ConnectionConfig& user, const ConsoleFlags& flags,
    const std::function<std::string(const std::string& name)>& environment) {
  const auto server = kube::parseServerUrl(flags.url);
  if (!server) return refuse(fmt::format("--console: {}", server.error().message));
  const std::string_view url = server->url;
  if (url.starts_with("http://") && !isLoopback(url.substr(url.find("://") + 3)))
    return refuse(
        fmt::format("--console {}: your token would travel in the clear; use https://, or `kubectl "
                    "port-forward` and http://localhost",
                    flags.url));
  if (!user.headers.empty())
    return refuse(
        "--console: authenticates with a token, and so cannot impersonate another user (--as, or as of the "
        "kubeconfig)");
  if (!hasToken(user))
    return refuse(
        fmt::format("--console: needs a bearer token, and {} has none: give one by --token, as of "
                    "`kubectl create token SERVICEACCOUNT`",
                    user.source));
  kube::ConnectionConfig config{.source = fmt::format("console {}", flags.url), .server = server->url};
  config.pathPrefix = server->pathPrefix;
  config.proxy = kube::proxyFromEnvironment(server->url, environment);
  config.authorization = user.authorization;
  config.tokenFile = user.tokenFile;
  config.exec = user.exec;
  if (flags.caFile.empty()) return config;
  auto ca = base::readFile(flags.caFile);
  if (!ca) return refuse(fmt::format("--console-ca: {}", ca.error().message));
  config.tls.caPem = std::move(*ca);
  config.tlsFiles.ca = flags.caFile;
  return config;
}

}  // namespace trainyard::cli
