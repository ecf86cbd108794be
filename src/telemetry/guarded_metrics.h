#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "kube/path_access.h"
#include "net/server.h"
#include "telemetry/waiter_limit.h"

namespace trainyard::telemetry {

// Passes requests for /metrics to `inner` if their token may get it, and all other requests unchanged:
// probes have no token. The server's thread looks up cached tokens, so scrapes take no time of the event
// loop.
class GuardedMetrics : public std::enable_shared_from_this<GuardedMetrics> {
 public:
  GuardedMetrics(net::ServerHandler inner, kube::ApiClient& api, base::Executor& executor, base::Logger log);

  // Safe from any thread.
  void answer(const net::ServerRequest& request, const std::shared_ptr<net::Exchange>& exchange);

 private:
  void take(const net::ServerRequest& request, const std::shared_ptr<net::Exchange>& exchange,
            const kube::PathAccess::Verdict& verdict);
  void logOnce(const base::Error& error);

  const net::ServerHandler inner_;
  base::Executor& executor_;
  base::Logger log_;
  kube::PathAccess access_;
  const std::shared_ptr<WaiterLimit> capacity_ = std::make_shared<WaiterLimit>();
  std::string lastError_;
};

}  // namespace trainyard::telemetry
