#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "net/server.h"
#include "net/tls_files.h"
#include "telemetry/health.h"
#include "telemetry/metrics.h"

namespace trainyard::telemetry {

struct MetricsServerOptions {
  std::string listen;
  std::size_t threads = 2;
  bool secure = false;
  net::TlsFiles tls = {};  // used if secure; without paths, a certificate is generated at the start
};

// The telemetry port of a program: /metrics, /healthz and /readyz. It serves plain HTTP to every client. In
// secure mode it serves HTTPS, and /metrics only for a token that may `get` it (kube::PathAccess): 401
// without a valid token, 403 without the right, 429 for too many requests, 503 if the API server does not
// answer. Probes need no token. The certificate follows its files; while they are unusable, a generated one
// serves. Lives on the executor's loop.
class MetricsServer {
 public:
  struct Dependencies {
    const MetricsRegistry& metrics;
    const Health& health;
    kube::ApiClient& api;
    base::Executor& executor;
    base::Logger log;
  };

  // kInvalid has the address that is not usable; kUnavailable means that it is in use. The dependencies must
  // outlive the server.
  [[nodiscard]] static base::Result<std::unique_ptr<MetricsServer>> start(const MetricsServerOptions& options,
                                                                          Dependencies dependencies);
  MetricsServer() = default;
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  virtual ~MetricsServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

}  // namespace trainyard::telemetry
