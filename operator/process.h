#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "operator/certificate_plan.h"

namespace trainyard::operator_ {

struct ProcessOptions {
  std::string kubeconfig = {};
  std::string listen = "0.0.0.0:8080";
  std::string leaseNamespace = "trainyard-system";
  std::string identity = {};
  int qps = 1000;
  int burst = 2000;
  std::string schedulerName = {};
  std::optional<CertificateOptions> certificates = std::nullopt;
  base::LogLevel logLevel = base::LogLevel::kInfo;
};

// Runs the operator until SIGTERM or SIGINT (exit code 0), until it loses its leadership (1: another replica
// leads, start anew as standby), or until it cannot start (1, with one clear line of log).
[[nodiscard]] int runProcess(const ProcessOptions& options);

}  // namespace trainyard::operator_
