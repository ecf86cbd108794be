#include "sim/cluster/cluster.h"

#include <utility>

#include "sim/api/json.h"
#include "sim/cluster/crds.h"

namespace trainyard::sim {

base::Result<std::unique_ptr<SimulatedCluster>> SimulatedCluster::create(ClusterOptions options) {
  std::unique_ptr<SimulatedCluster> cluster(new SimulatedCluster(std::move(options)));
  if (auto built = cluster->build(); !built) return base::fail(built.error());
  return cluster;
}

SimulatedCluster::SimulatedCluster(ClusterOptions options) : context_(std::move(options)) {}

SimulatedCluster::~SimulatedCluster() = default;

base::Result<std::shared_ptr<const Registry>> SimulatedCluster::readTypes() {
  return ApiServer::readTypes(clusterCrds());
}

base::Result<void> SimulatedCluster::build() {
  auto types = context_.options.types != nullptr ? context_.options.types : readTypes();
  if (!types) return base::fail(types.error());
  auto server = ApiServer::create({.types = *std::move(types), .seed = context_.rng.next()},
                                  [this] { return loop().wallNow(); });
  if (!server) return base::fail(server.error());
  server_ = std::move(*server);
  observer_ = std::make_unique<ClusterObserver>(*server_, context_.log);
  invariants_ = std::make_unique<Invariants>(*observer_, loop(), context_.options.invariants);
  if (auto started = observer_->start(); !started) return started;
  user_ = std::make_unique<ClusterUser>(*server_);
  clients_ = std::make_unique<ClusterClients>(context_, *server_);
  controlPlane_ = std::make_unique<ControlPlane>(context_, *server_, *clients_);
  operators_ = std::make_unique<OperatorProcesses>(context_, *clients_);
  const auto made =
      create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"trainyard-system"}})");
  if (!made) return base::fail(made.error());
  return {};
}

base::Result<std::vector<std::string>> SimulatedCluster::documents(const std::string& yaml) {
  auto parsed = parseYaml(yaml);
  if (!parsed) return base::fail(parsed.error());
  std::vector<std::string> texts;
  for (const Json& each : *parsed) {
    if (!each.is_null()) texts.push_back(dumpJson(each));
  }
  return texts;
}

bool SimulatedCluster::step(base::Instant limit) {
  const bool ran = context_.loop.step(limit);
  invariants_->checkTime();
  return ran;
}

void SimulatedCluster::runFor(base::Instant::duration span) {
  const base::Instant end = context_.loop.now() + span;
  while (step(end)) {
  }
  context_.loop.runUntil(end);
}

bool SimulatedCluster::runUntilTrue(const std::function<bool()>& done, base::Instant::duration limit) {
  const base::Instant end = context_.loop.now() + limit;
  while (!done()) {
    if (!step(end)) return done();
  }
  return true;
}

}  // namespace trainyard::sim
