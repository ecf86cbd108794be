#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "kube/config.h"

namespace trainyard::cli {

struct ConsoleFlags {
  std::string url = {};     // "https://host:port"; empty: no console
  std::string caFile = {};  // that signed its certificate, PEM; empty: the system's
};

// How the console is asked by who `user` is towards the API server: with his bearer token, and nothing else
// of his. kInvalid where he has none or acts as somebody else, and where the token would travel in the clear.
// `environment` gives the value of a variable, empty when unset: of proxies.
[[nodiscard]] base::Result<kube::ConnectionConfig> consoleConfig(
    const kube::ConnectionConfig& user, const ConsoleFlags& flags,
    const std::function<std::string(const std::string& name)>& environment);

}  // namespace trainyard::cli
