#pragma once

#include <string>

#include "base/log.h"
#include "net/tls_files.h"

namespace trainyard::extender {

struct ProcessOptions {
  std::string kubeconfig = {};
  std::string listen = {};
  net::TlsFiles tls = {};
  std::string clientName = {};     // the only accepted common name; empty: any that the CA signed
  std::string policyFile = {};     // empty: the defaults
  std::string metricsListen = {};  // empty: no such server
  bool metricsSecure = false;      // HTTPS with the certificate above, for authorized callers only
  base::LogLevel logLevel = base::LogLevel::kInfo;
  base::LogFormat logFormat = base::LogFormat::kJson;
};

// Runs the extender until SIGTERM or SIGINT. Returns 0, or 1 with one clear log line if it cannot
// start.
[[nodiscard]] int runProcess(const ProcessOptions& options);

}  // namespace trainyard::extender
