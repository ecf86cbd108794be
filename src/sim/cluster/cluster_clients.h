#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/http_api_client.h"
#include "sim/api/server.h"
#include "sim/api/transport.h"
#include "sim/cluster/cluster_context.h"

namespace trainyard::sim {

// The connection of one program to the API server.
struct ClusterClient {
  // The network stays active while the client, with its own executor, may be paused.
  ClusterClient(ApiServer& server, base::Executor& network, base::Executor& executor,
                TransportOptions transportOptions, base::Rng rng, const base::Logger& log)
      : transport(server, network, transportOptions),
        credentials(kube::makeStaticCredentials("")),
        api({.userAgent = transportOptions.client, .rateLimit = {.perSecond = 0, .burst = 0}}, transport,
            *credentials, executor, rng.split(), log.named(transportOptions.client)),
        leaseApi({.userAgent = transportOptions.client,
                  .rateLimit = {.perSecond = 0, .burst = 0},
                  .maxAttempts = 1},
                 transport, *credentials, executor, rng.split(), log.named(transportOptions.client)) {}

  ApiServerTransport transport;
  std::unique_ptr<kube::CredentialSource> credentials;
  kube::HttpApiClient api;
  kube::HttpApiClient leaseApi;
};

// Connects programs to the API server, each with its own latency.
class ClusterClients {
 public:
  // The arguments must outlive the object and its clients.
  ClusterClients(ClusterContext& context, ApiServer& server) : context_(context), server_(server) {}

  // `executor` is the client's own; `deliver` passes on what arrives for it.
  [[nodiscard]] std::unique_ptr<ClusterClient> connect(const std::string& name, FaultPlan* faults,
                                                       base::Executor& executor,
                                                       std::function<void(base::Task)> deliver = {});

 private:
  ClusterContext& context_;
  ApiServer& server_;
};

}  // namespace trainyard::sim
