#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "operator/certificate_plan.h"
#include "operator/console/console_server.h"
#include "telemetry/metrics_server.h"

namespace trainyard::operator_ {

struct ProcessOptions {
  std::string kubeconfig = {};
  telemetry::MetricsServerOptions metrics = {.listen = "0.0.0.0:8080"};
  std::string leaseNamespace = "trainyard-system";
  std::string policyConfigMap = {};  // of the policy file, in that namespace
  std::string identity = {};
  std::vector<std::string> workloadKinds;
  bool kueue = false;
  int qps = 1000;
  int burst = 2000;
  std::string schedulerName = {};
  std::string launcherImage = {};
  std::optional<CertificateOptions> certificates = std::nullopt;
  std::string policyFile = {};  // empty: the default policy
  base::LogLevel logLevel = base::LogLevel::kInfo;
  base::LogFormat logFormat = base::LogFormat::kJson;
  console::ConsoleOptions console = {};
};

// Runs the operator until SIGTERM or SIGINT (returns 0), or a loss of leadership (returns 1: another replica
// leads, restart as standby). Returns 1 with one clear log line if it cannot start.
[[nodiscard]] int runProcess(const ProcessOptions& options);

// Deletes every TrainingJob and waits until all are gone, for `patience` at most. Returns 0 if none is
// left.
[[nodiscard]] int endAllJobs(const ProcessOptions& options, std::chrono::seconds patience);

struct CheckOptions {
  std::string extenderUrl = {};  // empty: the extender is not checked
  std::string tlsFolder = {};    // with tls.crt, tls.key and ca.crt of a client
  std::string serverName = {};   // name in the extender's certificate
};

// Checks whether this installation works (InstallationCheck). Returns 0 if it does within `patience`.
[[nodiscard]] int checkInstallation(const ProcessOptions& options, const CheckOptions& check,
                                    std::chrono::seconds patience);

}  // namespace trainyard::operator_
