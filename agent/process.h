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
  std::string rate = {};    // empty: the speed that the device reports
  core::BandPolicy policy = core::BandPolicy::kBursts;
  std::chrono::seconds turn = core::kTurn;
  int othersPermille = 200;
  bool removeOnly = false;  // remove what an earlier agent left, and end
  telemetry::MetricsServerOptions metrics = {.listen = "", .threads = 1};  // no address: no server
  base::LogLevel logLevel = base::LogLevel::kInfo;
  base::LogFormat logFormat = base::LogFormat::kJson;
};

// Runs the agent until SIGTERM or SIGINT, and then removes our qdisc from the kernel. Returns exit code 0, or
// 1 after one log line with the reason if the agent cannot start.
[[nodiscard]] int runProcess(const ProcessOptions& options);

}  // namespace trainyard::agent
