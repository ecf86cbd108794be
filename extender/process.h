#pragma once

#include <string>

#include "base/log.h"
#include "net/tls_files.h"

namespace trainyard::extender {

struct ProcessOptions {
  std::string kubeconfig = {};
  std::string listen = {};
  net::TlsFiles tls = {};
  std::string clientName = {};  // the only common name that is answered; empty: every one that the CA signed
  std::string policyFile = {};  // empty: the defaults
  std::string metricsListen = {};  // empty: no such server
  bool metricsSecure = false;      // by HTTPS with the certificate above, to who may get them
  base::LogLevel logLevel = base::LogLevel::kInfo;
  base::LogFormat logFormat = base::LogFormat::kJson;
};

// Runs the extender until SIGTERM or SIGINT. Exit code 0, or 1 with one clear line of log when it cannot
// start.
[[nodiscard]] int runProcess(const ProcessOptions& options);

}  // namespace trainyard::extender
