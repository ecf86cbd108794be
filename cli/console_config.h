#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "kube/config.h"

namespace trainyard::cli {

struct ConsoleFlags {
  std::string url = {};     // "https://host:port"; empty: no console
  std::string caFile = {};  // CA of its certificate, PEM; empty: the system's
};

// Returns how to connect to the console as `user` of the API server: with the user's bearer token and nothing
// else. kInvalid if the user has no token or impersonates another user, or if the token would be sent
// unencrypted. `environment` returns the value of a variable for proxies, empty if it is not set.
[[nodiscard]] base::Result<kube::ConnectionConfig> consoleConfig(
    const kube::ConnectionConfig& user, const ConsoleFlags& flags,
    const std::function<std::string(const std::string& name)>& environment);

}  // namespace trainyard::cli
