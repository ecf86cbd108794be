#include "operator/operator.h"

#include <chrono>
#include <utility>

namespace trainyard::operator_ {
namespace {

constexpr base::Instant::duration kShutDownPatience = std::chrono::seconds(5);

}  // namespace

Operator::Operator(OperatorOptions options, Dependencies dependencies)
    : options_(std::move(options)),
      deps_(std::move(dependencies)),
      metrics_(deps_.metrics),
      cluster_(options_, {.api = deps_.api,
                          .executor = deps_.executor,
                          .rng = deps_.rng,
                          .metrics = deps_.metrics,
                          .log = deps_.log,
                          .changed = [this] { cycles_.request(); }}),
      events_(options_, deps_.api, deps_.executor, deps_.log.named("events")),
      tasks_(options_, {.api = deps_.api,
                        .executor = deps_.executor,
                        .cache = cluster_.cache(),
                        .workloads = cluster_.workloads(),
                        .kueue = cluster_.kueue(),
                        .events = events_,
                        .metrics = metrics_,
                        .registry = deps_.metrics,
                        .rng = deps_.rng,
                        .log = deps_.log,
                        .leading = [this] { return leading(); },
                        .findings = [this] { cycles_.request(); }}),
      cycles_(options_, {.api = deps_.api,
                         .executor = deps_.executor,
                         .cluster = cluster_,
                         .tasks = tasks_,
                         .events = events_,
                         .metrics = metrics_,
                         .log = deps_.log,
                         .offload = deps_.offload,
                         .leading = [this] { return leading(); },
                         .ran = [this] { refresher_.changed(); }}),
      freeGpus_(deps_.metrics, deps_.executor, deps_.offload, [this] { return snapshot(); }),
      refresher_(deps_.executor, cluster_, metrics_, freeGpus_),
      leadership_(options_, deps_.leaseApi, deps_.executor, metrics_, deps_.log) {
  cluster_.cache().onAnyChange([this] { cycles_.request(); });
  cycles_.takePolicy();
  // A change of a queue's status needs no cycle, but the metrics report it.
  cluster_.cache().queues.onChange([this](const auto&, const auto&) {
    if (leading()) refresher_.changed();
  });
}

Operator::~Operator() { *alive_ = false; }

void Operator::start() {
  cluster_.startWatches();
  leadership_.start(deps_.rng.split(), [this](std::int64_t term) { startedLeading(term); });
}

void Operator::startedLeading(std::int64_t term) {
  cycles_.setTerm(term);
  // The warm caches may lag behind the last leader's writes: one consistent list of everything precedes the
  // first plan.
  cluster_.startWatches();
  cycles_.request();
  tasks_.start();
}

void Operator::onLeadershipLost(std::function<void()> callback) { leadership_.onLost(std::move(callback)); }

void Operator::shutDown(std::function<void()> stopped) {
  leadership_.expectEnd();
  const auto end = [this, stopped = std::move(stopped)] { release(stopped); };
  deps_.executor.postAfter(kShutDownPatience, [end, alive = alive_] {
    if (*alive) end();
  });
  cycles_.stop(end);
}

void Operator::release(const std::function<void()>& stopped) {
  if (released_) return;
  released_ = true;
  tasks_.stopCertificates();
  cluster_.stopWatches();
  leadership_.release(stopped);
}

void Operator::setPolicy(const model::Policy& policy) {
  options_.policy = policy;
  cycles_.takePolicy();
  tasks_.takePolicy();
  cycles_.request();
}

void Operator::setProvisioning(const model::ProvisioningPolicy& policy) {
  options_.provisioning = policy;
  tasks_.takePolicy();
}

void Operator::reportPolicy(const std::string& complaint) {
  if (leading()) events_.recordPolicyRefused(complaint);
}

model::Snapshot Operator::snapshot() const {
  model::Snapshot cluster = cluster_.snapshot();
  cluster.runTimes = tasks_.runTimes();
  return cluster;
}

}  // namespace trainyard::operator_
