#include "sim/cluster/cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/silent_log.h"
#include "codec/status.h"
#include "kube/http_api_client.h"
#include "operator/operator.h"
#include "sim/api/json.h"
#include "sim/cluster/crds.h"
#include "telemetry/metrics.h"

namespace trainyard::sim {
namespace {

// The kinds that users and tests create; discovery would be the general solution.
struct KnownKind {
  std::string_view apiVersion;
  std::string_view kind;
  kube::ResourceType type;
};
constexpr KnownKind kKinds[] = {
    {"v1", "Pod", kube::kPods},
    {"v1", "Service", kube::kServices},
    {"v1", "ConfigMap", kube::kConfigMaps},
    {"v1", "Secret", kube::kSecrets},
    {"v1", "Node", kube::kNodes},
    {"v1", "Namespace", kube::kNamespaces},
    {"v1", "LimitRange", {"", "v1", "limitranges"}},
    {"scheduling.k8s.io/v1", "PriorityClass", kube::kPriorityClasses},
    {"trainyard.dev/v1alpha1", "TrainingJob", kube::kTrainingJobs},
    {"trainyard.dev/v1alpha1", "Queue", kube::kQueues},
};

}  // namespace

// The connection of one program to the API server.
struct SimulatedCluster::Client {
  // The network stays active while the client, with its own executor, may be paused.
  Client(ApiServer& server, base::Executor& network, base::Executor& executor,
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

struct SimulatedCluster::OperatorProcess {
  explicit OperatorProcess(base::Executor& world) : executor(world) {}

  PausableExecutor executor;
  std::unique_ptr<Client> client;
  telemetry::MetricsRegistry metrics;
  std::unique_ptr<operator_::Operator> instance;
};

base::Result<std::unique_ptr<SimulatedCluster>> SimulatedCluster::create(ClusterOptions options) {
  std::unique_ptr<SimulatedCluster> cluster(new SimulatedCluster(std::move(options)));
  if (auto built = cluster->build(); !built) return base::fail(built.error());
  return cluster;
}

SimulatedCluster::SimulatedCluster(ClusterOptions options)
    : options_(std::move(options)),
      rng_(options_.seed),
      silence_(std::make_unique<base::SilentSink>()),
      log_(options_.log != nullptr ? *options_.log : *silence_, options_.logLevel, "cluster") {}

SimulatedCluster::~SimulatedCluster() = default;

base::Result<std::shared_ptr<const Registry>> SimulatedCluster::readTypes() {
  return ApiServer::readTypes(clusterCrds());
}

base::Result<void> SimulatedCluster::build() {
  auto types = options_.types != nullptr ? options_.types : readTypes();
  if (!types) return base::fail(types.error());
  auto server = ApiServer::create({.types = *std::move(types), .seed = rng_.next()},
                                  [this] { return loop_.wallNow(); });
  if (!server) return base::fail(server.error());
  server_ = std::move(*server);
  observer_ = std::make_unique<ClusterObserver>(*server_, log_);
  invariants_ = std::make_unique<Invariants>(*observer_, loop_, options_.invariants);
  if (auto started = observer_->start(); !started) return started;
  garbageCollector_ = std::make_unique<GarbageCollector>(*server_, loop_);

  const auto client = [&](const char* name) -> Client& {
    clients_.push_back(connect(name, options_.otherFaults, loop_));
    return *clients_.back();
  };
  if (options_.extender) {
    kube::ApiClient& api = client("extender").api;
    extender_ = std::make_unique<GuardExtender>(api, loop_, rng_.split(), log_);
    extender_->start();
  }
  scheduler_ = std::make_unique<Scheduler>(
      options_.scheduler, Scheduler::Dependencies{client("scheduler").api, loop_, rng_.split(),
                                                  log_.named("scheduler"), extender_.get()});
  kubelets_ = std::make_unique<Kubelets>(
      options_.kubelet,
      Kubelets::Dependencies{client("kubelet").api, loop_, rng_.split(), log_.named("kubelet")});
  nodeLifecycle_ = std::make_unique<NodeLifecycle>(
      options_.nodeLifecycle,
      NodeLifecycle::Dependencies{client("node-lifecycle").api, loop_, rng_.split(),
                                  log_.named("node-lifecycle"),
                                  [this](const model::NodeName& node) { return kubelets_->isUp(node); }});
  scheduler_->start();
  kubelets_->start();
  nodeLifecycle_->start();
  const auto made =
      create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"trainyard-system"}})");
  if (!made) return base::fail(made.error());
  return {};
}

std::unique_ptr<SimulatedCluster::Client> SimulatedCluster::connect(const std::string& name,
                                                                    FaultPlan* faults,
                                                                    base::Executor& executor,
                                                                    std::function<void(base::Task)> deliver) {
  const auto draw = [&](std::chrono::microseconds usual) {
    return std::chrono::microseconds(rng_.between(usual.count() / 2, usual.count() * 2));
  };
  TransportOptions transport;
  transport.client = name;
  transport.latency = draw(options_.latency);
  transport.watchLag = draw(options_.watchLag);
  transport.faults = faults;
  transport.counts = options_.faultCounts;
  transport.deliver = std::move(deliver);
  return std::make_unique<Client>(*server_, loop_, executor, std::move(transport), rng_.split(), log_);
}

// --- users
// ----------------------------------------------------------------------------------------------------------

base::Result<std::string> SimulatedCluster::request(net::Method method, const std::string& path,
                                                    const std::string& body, const std::string& contentType) {
  net::HttpRequest request{.method = method, .target = path, .body = body};
  if (!body.empty()) request.headers.emplace_back("Content-Type", contentType);
  net::HttpResponse response = server_->handle(request);
  if (response.status / 100 == 2) return std::move(response.body);
  return base::fail(codec::errorFromAnswer(response.status, response.body,
                                           fmt::format("{} {}", net::toString(method), path)));
}

base::Result<std::string> SimulatedCluster::create(const std::string& json, std::string_view ns) {
  const auto object = parseJson(json);
  if (!object) return base::fail(object.error());
  const std::string apiVersion = textAt(*object, {"apiVersion"});
  const std::string kind = textAt(*object, {"kind"});
  for (const KnownKind& known : kKinds) {
    if (known.apiVersion != apiVersion || known.kind != kind) continue;
    const std::string own = textAt(*object, {"metadata", "namespace"});
    return request(net::Method::kPost, known.type.collection(own.empty() ? ns : own), json);
  }
  return base::fail(base::ErrorCode::kInvalid,
                    fmt::format("cannot create a {} of {}: no such kind here", kind, apiVersion));
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

base::Result<void> SimulatedCluster::addNodes(int count, const NodeShape& shape) {
  for (int i = 0; i < count; ++i) {
    const int rack = nodes_ / shape.nodesInRack;
    const int block = rack / shape.racksInBlock;
    const std::string name = fmt::format("n{:04}", nodes_++);
    Json resources = {
        {"cpu", std::to_string(shape.cpus)}, {"memory", shape.memory}, {"pods", std::to_string(shape.pods)}};
    Json labels = {{"kubernetes.io/hostname", name},
                   {"topology.kubernetes.io/zone", fmt::format("z{}", block / shape.blocksInZone)},
                   {"cloud.provider.com/topology-block", fmt::format("b{}", block)},
                   {"cloud.provider.com/topology-rack", fmt::format("r{}", rack)}};
    if (shape.gpus > 0) {
      resources["nvidia.com/gpu"] = std::to_string(shape.gpus);
      labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
    }
    const Json node = {{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", name}, {"labels", labels}}},
                       {"status", {{"capacity", resources}, {"allocatable", resources}}}};
    if (const auto made = create(dumpJson(node)); !made) return base::fail(made.error());
  }
  return {};
}

// --- operators
// ------------------------------------------------------------------------------------------------------

int SimulatedCluster::startOperator() {
  const int number = ++lastOperator_;
  const std::string name = fmt::format("operator-{}", number);
  auto process = std::make_unique<OperatorProcess>(loop_);
  process->client = connect(name, options_.operatorFaults, process->executor, process->executor.door());
  process->instance = std::make_unique<operator_::Operator>(
      operator_::OperatorOptions{.identity = name,
                                 .settings = options_.settings,
                                 .policy = options_.policy,
                                 .provisioning = options_.provisioning},
      operator_::Operator::Dependencies{process->client->api, process->client->leaseApi, process->executor,
                                        process->metrics, rng_.split(), log_.named(name)});
  process->client->api.guardWrites([instance = process->instance.get()] { return instance->leading(); });
  // A process that loses the lease ends; its Deployment restarts it.
  process->instance->onLeadershipLost([this, number] {
    killOperator(number);
    loop_.postAfter(std::chrono::seconds(1), [this] { startOperator(); });
  });
  process->instance->start();
  operators_.emplace(number, std::move(process));
  return number;
}

void SimulatedCluster::killOperator(int number) {
  const auto found = operators_.find(number);
  if (found == operators_.end()) return;
  // A call of the operator itself may lead here, so it is destroyed later, on the loop.
  dying_.push_back(std::move(found->second));
  operators_.erase(found);
  loop_.post([this] { dying_.clear(); });
}

void SimulatedCluster::stopOperator(int number) {
  const auto found = operators_.find(number);
  if (found == operators_.end()) return;
  found->second->instance->shutDown([this, number] { killOperator(number); });
}

void SimulatedCluster::pauseOperator(int number) {
  if (const auto found = operators_.find(number); found != operators_.end()) found->second->executor.pause();
}

void SimulatedCluster::resumeOperator(int number) {
  if (const auto found = operators_.find(number); found != operators_.end()) found->second->executor.resume();
}

std::string SimulatedCluster::metricsOf(int number) const {
  const auto found = operators_.find(number);
  return found == operators_.end() ? "" : found->second->metrics.text();
}

void SimulatedCluster::setExtenderUp(bool up) {
  if (extender_) extender_->setUp(up);
}

std::vector<int> SimulatedCluster::operators() const {
  std::vector<int> numbers;
  for (const auto& [number, process] : operators_) numbers.push_back(number);
  return numbers;
}

std::optional<int> SimulatedCluster::leader() const {
  for (const auto& [number, process] : operators_) {
    if (process->instance->leading()) return number;
  }
  return std::nullopt;
}

// --- time
// -----------------------------------------------------------------------------------------------------------

bool SimulatedCluster::step(base::Instant limit) {
  const bool ran = loop_.step(limit);
  invariants_->checkTime();
  return ran;
}

void SimulatedCluster::runFor(base::Instant::duration span) {
  const base::Instant end = loop_.now() + span;
  while (step(end)) {
  }
  loop_.runUntil(end);
}

bool SimulatedCluster::runUntilTrue(const std::function<bool()>& done, base::Instant::duration limit) {
  const base::Instant end = loop_.now() + limit;
  while (!done()) {
    if (!step(end)) return done();
  }
  return true;
}

}  // namespace trainyard::sim
