#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/executor.h"
#include "base/log.h"
#include "extender/guard_service.h"
#include "extender/process.h"
#include "net/server.h"
#include "net/tls_follower.h"
#include "telemetry/metrics.h"

namespace trainyard::extender {

// The HTTPS port that kube-scheduler asks: answers clients with a certificate of the client CA, and with the
// common name that is expected.
class GuardServer {
 public:
  GuardServer(const ProcessOptions& options, GuardService& service) : options_(options), service_(service) {}
  GuardServer(const GuardServer&) = delete;
  GuardServer& operator=(const GuardServer&) = delete;

  // Follows the files of its certificates from then on.
  [[nodiscard]] base::Result<void> start(base::Executor& executor, const base::Logger& log);
  void stop();
  // Covers certificates of any origin. kube-scheduler's client certificate is not available here.
  void reportExpiry(telemetry::MetricsRegistry& registry);

 private:
  const ProcessOptions& options_;
  GuardService& service_;
  std::unique_ptr<net::HttpServer> server_;
  std::optional<net::TlsFollower> tlsFollower_;
  std::pair<std::string, std::string> reported_;  // certificates that the expiry metrics describe
};

}  // namespace trainyard::extender
