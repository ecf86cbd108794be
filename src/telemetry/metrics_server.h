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
  net::TlsFiles tls = {};  // with it; no paths: a certificate is made at the start
};

// The port of a program that tells about it: /metrics, /healthz and /readyz. By plain HTTP to everybody, or,
// where it is to be secure, by HTTPS, and /metrics only to whose token may `get` it (kube::PathAccess): 401
// without a good token, 403 without the right, 429 when too many ask, 503 when the API server cannot be
// asked. Probes need no token. The certificate follows its files; while they cannot be used, a made one
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

  // kInvalid names the address that cannot be used, kUnavailable says that it is taken. What is depended on
  // must outlive the server.
  [[nodiscard]] static base::Result<std::unique_ptr<MetricsServer>> start(const MetricsServerOptions& options,
                                                                          Dependencies dependencies);
  MetricsServer() = default;
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  virtual ~MetricsServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

}  // namespace trainyard::telemetry
