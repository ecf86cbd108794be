#include "sim/cluster/cluster_clients.h"

#include <chrono>
#include <utility>

namespace trainyard::sim {

std::unique_ptr<ClusterClient> ClusterClients::connect(const std::string& name, FaultPlan* faults,
                                                       base::Executor& executor,
                                                       std::function<void(base::Task)> deliver) {
  const auto draw = [&](std::chrono::microseconds usual) {
    return std::chrono::microseconds(context_.rng.between(usual.count() / 2, usual.count() * 2));
  };
  TransportOptions transport;
  transport.client = name;
  transport.latency = draw(context_.options.latency);
  transport.watchLag = draw(context_.options.watchLag);
  transport.faults = faults;
  transport.counts = context_.options.faultCounts;
  transport.deliver = std::move(deliver);
  return std::make_unique<ClusterClient>(server_, context_.loop, executor, std::move(transport),
                                         context_.rng.split(), context_.log);
}

}  // namespace trainyard::sim
