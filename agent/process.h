#pragma once

#include <chrono>
#include <string>

#include "base/log.h"
#include "core/network/bands.h"
#include "telemetry/metrics_server.h"

namespace trainyard::agent {

struct ProcessOptions {
  std::string kubeconfig = {};
  std::string node = {};
  std::string device = {};  // empty: that of the default route
  std::string rate = {};    // empty: what the device says
  core::BandPolicy policy = core::BandPolicy::kBursts;
  std::chrono::seconds turn = core::kTurn;
  int othersPermille = 200;
  bool removeOnly = false;  // take away what an agent left behind, and end
  telemetry::MetricsServerOptions metrics = {.listen = "", .threads = 1};  // no address: no such server
  base::LogLevel logLevel = base::LogLevel::kInfo;
  base::LogFormat logFormat = base::LogFormat::kJson;
};

// Runs the agent until SIGTERM or SIGINT, and takes away what is ours in the kernel. Exit code 0, or 1 with
// one clear line of log when it cannot start.
[[nodiscard]] int runProcess(const ProcessOptions& options);

}  // namespace trainyard::agent
