#include "operator/operator.h"

#include <algorithm>

#include "codec/job.h"
#include "codec/json_value.h"
#include "codec/namespace.h"
#include "codec/node.h"
#include "codec/pod.h"
#include "codec/priority_class.h"
#include "codec/queue.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

// Changes come in bursts: one cycle handles a burst, and planning takes no more than a twentieth of the time.
// If cycles are long, it may take up to a fifth, so that users do not wait long for a message.
constexpr base::Instant::duration kCoalesce = std::chrono::milliseconds(2);
constexpr base::Instant::duration kMaxRest = std::chrono::milliseconds(100);
constexpr int kRestPerWork = 19;
constexpr int kMinRestPerWork = 4;
constexpr base::Instant::duration kDescribe = std::chrono::milliseconds(250);
constexpr base::Instant::duration kSyncPoll = std::chrono::milliseconds(20);
// All tenants wait while the operator does not see the cluster. There are few replicas, so asking a server
// that comes back this often costs it nothing.
constexpr base::Instant::duration kMaxBlindness = std::chrono::seconds(5);
constexpr base::Instant::duration kShutDownPatience = std::chrono::seconds(5);

kube::ClusterDecoders decoders() {
  return {codec::decodeNode,  codec::decodePod,           codec::decodeJob,
          codec::decodeQueue, codec::decodePriorityClass, codec::decodeNamespace};
}

base::Instant::duration restAfter(base::Instant::duration work) {
  return std::max(kCoalesce, std::min(kRestPerWork * work, std::max(kMaxRest, kMinRestPerWork * work)));
}

class RecordedEvents final : public JobEvents {
 public:
  explicit RecordedEvents(kube::EventRecorder& recorder) : recorder_(recorder) {}

  void record(const model::Job& job, const core::JobEvent& event) override {
    const kube::ObjectRef regarding{.apiVersion = std::string(model::names::kApiVersion),
                                    .kind = std::string(model::names::kTrainingJobKind),
                                    .ns = job.key.ns,
                                    .name = job.key.name,
                                    .uid = job.uid.str()};
    recorder_.record(regarding, event.warning ? kube::EventType::kWarning : kube::EventType::kNormal,
                     event.reason, "Scheduling", event.note);
  }

 private:
  kube::EventRecorder& recorder_;
};

void recordQueueEvent(kube::EventRecorder& recorder, const model::Queue& queue,
                      const model::Condition& ready) {
  const kube::ObjectRef regarding{.apiVersion = std::string(model::names::kApiVersion),
                                  .kind = "Queue",
                                  .ns = "",
                                  .name = queue.name.str(),
                                  .uid = queue.uid.str()};
  const bool good = ready.status == model::ConditionStatus::kTrue && ready.reason == "Usable";
  recorder.record(regarding, good ? kube::EventType::kNormal : kube::EventType::kWarning, ready.reason,
                  "Scheduling", ready.message);
}

}  // namespace

Operator::Operator(OperatorOptions options, Dependencies dependencies)
    : options_(std::move(options)),
      deps_(dependencies),
      metrics_(deps_.metrics),
      cache_(decoders(), deps_.log.named("cache")),
      volumes_(cache_, deps_.log.named("cache"), [this] { requestCycle(); }),
      assumed_(cache_, volumes_.caches().claims, options_.schedulerName, [this] { requestCycle(); }),
      types_(
          cache_, [this] { return options_.policy.gpuTypeLabel; },
          [this] { return deps_.executor.wallNow(); }),
      recorder_({.controller = "trainyard.dev/operator", .instance = options_.identity}, deps_.api,
                deps_.executor, deps_.log.named("events")),
      events_(std::make_unique<RecordedEvents>(recorder_)),
      executor_({deps_.api, deps_.executor, cache_, *events_, metrics_, deps_.log.named("executor"),
                 options_.schedulerName, options_.settings, options_.launcherImage, deps_.offload},
                [this] { jobSettled(); }),
      queueStatus_({deps_.api, deps_.executor, cache_, metrics_, deps_.log.named("queues"),
                    [this] { requestCycle(); },
                    [this](const model::Queue& queue, const model::Condition& ready) {
                      recordQueueEvent(recorder_, queue, ready);
                    }}),
      runTimes_({.ns = options_.leaseNamespace}, {deps_.api, deps_.executor, cache_,
                                                  deps_.log.named("run-times"), [this] { requestCycle(); }}),
      progress_({deps_.api, deps_.executor, cache_, metrics_, [this] { return leading(); },
                 [this] { requestCycle(); }}),
      nodes_({deps_.api, deps_.executor, cache_, *events_, deps_.metrics, deps_.log.named("nodes"),
              [this] { return leading(); }, [this] { return deps_.rng.split(); }}),
      freeGpus_(deps_.metrics, deps_.executor, deps_.offload, [this] { return snapshot(); }) {
  nodes_.setPolicy(options_.provisioning, options_.policy.topology);
  cache_.onAnyChange([this] { requestCycle(); });
  takeFailureRules();
  // A change of a queue's status needs no cycle, but the metrics report it.
  cache_.queues.onChange([this](const auto&, const auto&) {
    if (leading()) describeSoon();
  });
}

Operator::~Operator() { *alive_ = false; }

void Operator::start() {
  startReflectors();
  kube::LeaseOptions lease;
  lease.ns = options_.leaseNamespace;
  lease.name = options_.leaseName;
  lease.identity = options_.identity;
  kube::LeaseCallbacks callbacks;
  callbacks.onStartedLeading = [this](std::int64_t term) { startedLeading(term); };
  callbacks.onStoppedLeading = [this] {
    metrics_.setLeading(false);
    if (stopping_) return;
    deps_.log.error("leadership lost", {{"identity", options_.identity}});
    if (leadershipLost_) leadershipLost_();
  };
  election_ = std::make_unique<kube::LeaderElection>(lease, deps_.leaseApi, deps_.executor, deps_.rng.split(),
                                                     deps_.log.named("lease"), std::move(callbacks));
  election_->start();
}

void Operator::startReflectors() {
  reflectors_.clear();
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = type, .maxDelay = kMaxBlindness}, deps_.api, deps_.executor,
        deps_.rng.split(), deps_.log.named("reflector"), sink));
    reflectors_.back()->start();
  };
  add(kube::kNodes, cache_.nodes);
  add(kube::kPods, cache_.pods);
  add(kube::kTrainingJobs, cache_.jobs);
  add(kube::kQueues, cache_.queues);
  add(kube::kPriorityClasses, cache_.priorityClasses);
  add(kube::kNamespaces, cache_.namespaces);
  add(kube::kVolumeClaims, volumes_.caches().claims);
  add(kube::kVolumes, volumes_.caches().volumes);
  add(kube::kStorageClasses, volumes_.caches().classes);
  add(kube::kCsiDrivers, volumes_.caches().drivers);
  add(kube::kCsiNodes, volumes_.caches().csiNodes);
}

void Operator::startedLeading(std::int64_t term) {
  deps_.log.info("leading", {{"identity", options_.identity}, {"term", term}});
  term_ = term;
  metrics_.setLeading(true);
  // The warm caches may lag behind the last leader's writes: one consistent list of everything precedes the
  // first plan.
  startReflectors();
  requestCycle();
  runTimes_.start();
  progress_.start();
  nodes_.start();
  if (!options_.certificates) return;
  certificates_ = std::make_unique<CertificateKeeper>(*options_.certificates, deps_.api, deps_.executor,
                                                      deps_.metrics, deps_.log.named("certificates"));
  certificates_->start();
}

void Operator::onLeadershipLost(std::function<void()> callback) { leadershipLost_ = std::move(callback); }

void Operator::shutDown(std::function<void()> stopped) {
  stopping_ = true;
  stopped_ = std::move(stopped);
  deps_.executor.postAfter(kShutDownPatience, [this, alive = alive_] {
    if (*alive) releaseLease();
  });
  jobSettled();
}

void Operator::jobSettled() {
  if (!stopping_) return requestCycle();
  if (executor_.busyJobs() == 0) releaseLease();
}

void Operator::releaseLease() {
  if (released_) return;
  released_ = true;
  certificates_.reset();
  reflectors_.clear();
  if (!election_) return stopped_();
  election_->release(stopped_);
}

void Operator::setPolicy(const model::Policy& policy) {
  options_.policy = policy;
  takeFailureRules();
  nodes_.setPolicy(options_.provisioning, policy.topology);
  requestCycle();
}

void Operator::setProvisioning(const model::ProvisioningPolicy& policy) {
  options_.provisioning = policy;
  nodes_.setPolicy(policy, options_.policy.topology);
}

// These expressions were already compiled once, when the policy file was read.
void Operator::takeFailureRules() {
  if (const auto taken = executor_.setFailureRules(options_.policy.failureRules); !taken)
    deps_.log.error("failure rules are not accepted", {{"error", taken.error().message}});
  executor_.setPreflight(options_.policy.preflight);
}

void Operator::reportPolicy(const std::string& complaint) {
  if (!leading()) return;
  const auto tell = [this, complaint](const kube::ObjectRef& regarding) {
    recorder_.record(regarding, kube::EventType::kWarning, "PolicyRefused", "Reloading", complaint);
  };
  const std::string& ns = options_.leaseNamespace;
  const std::string& name = options_.policyConfigMap;
  // The Lease belongs to the operator and exists in every kind of installation.
  if (name.empty()) {
    return tell({.apiVersion = "coordination.k8s.io/v1",
                 .kind = "Lease",
                 .ns = ns,
                 .name = options_.leaseName,
                 .uid = ""});
  }
  // `kubectl describe` shows the Events of an object's uid only.
  deps_.api.request(
      {.path = kube::kConfigMaps.object(ns, name)},
      [tell, ns, name, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
        if (!*alive) return;
        kube::ObjectRef policy{.apiVersion = "v1", .kind = "ConfigMap", .ns = ns, .name = name, .uid = ""};
        const auto object = answer ? codec::JsonDocument::parse(answer->body) : base::fail(answer.error());
        if (object) policy.uid = object->root().find("metadata").find("uid").string().value_or("");
        tell(policy);
      });
}

bool Operator::leading() const { return election_ && election_->isLeader(); }

bool Operator::synced() const {
  return !reflectors_.empty() && std::all_of(reflectors_.begin(), reflectors_.end(),
                                             [](const auto& reflector) { return reflector->synced(); });
}

model::Snapshot Operator::snapshot() const {
  model::Snapshot now = cache_.snapshot(deps_.executor.wallNow());
  now.policy = options_.policy;
  now.runTimes = runTimes_.current();
  return now;
}

void Operator::requestCycle() {
  if (cycleRequested_ || stopping_) return;
  cycleRequested_ = true;
  deps_.executor.postAt(nextCycle_, [this, alive = alive_] {
    if (!*alive) return;
    cycleRequested_ = false;
    runCycle();
  });
}

void Operator::runCycle() {
  if (stopping_ || !leading()) return;
  if (!synced()) return awaitSync();
  const base::Instant begin = deps_.executor.now();
  core::CycleInput input;
  input.snapshot = cache_.snapshot(deps_.executor.wallNow());
  input.snapshot.freed = freed_.until(input.snapshot.now);
  input.snapshot.policy = options_.policy;
  input.snapshot.runTimes = runTimes_.current();
  types_.overlay(input.snapshot);
  volumes_.overlay(input.snapshot);
  assumed_.overlay(input.snapshot);
  executor_.overlay(input.snapshot);
  input.settings = options_.settings;
  input.term = term_;
  input.feedback = executor_.feedback(input.snapshot);
  input.otherFeedback = executor_.otherFeedback();
  input.life = progress_.findings();
  const base::Instant read = deps_.executor.now();
  const core::Plan plan = core::cycle(input, cycleCache_);
  const base::Instant planned = deps_.executor.now();
  executor_.execute(plan);
  queueStatus_.take(plan.queues);
  metrics_.noteSizes(plan.sizes);
  metrics_.noteFairness(plan.fairnessLossPermille);
  const base::Instant end = deps_.executor.now();
  metrics_.noteCycle({.snapshot = read - begin, .plan = planned - read, .apply = end - planned});
  nextCycle_ = end + restAfter(end - begin);
  armWake(plan);
  describeSoon();
}

void Operator::describeSoon() {
  if (describing_) return;
  describing_ = true;
  deps_.executor.postAfter(kDescribe, [this, alive = alive_] {
    if (!*alive) return;
    describing_ = false;
    model::Snapshot snapshot = cache_.snapshot(deps_.executor.wallNow());
    snapshot.policy = options_.policy;
    metrics_.describe(snapshot);
    freeGpus_.changed();
  });
}

// Polls: the lists that end this wait may change nothing in warm caches and thus trigger no cycle.
void Operator::awaitSync() {
  if (awaitingSync_) return;
  awaitingSync_ = true;
  deps_.executor.postAfter(kSyncPoll, [this, alive = alive_] {
    if (!*alive) return;
    awaitingSync_ = false;
    requestCycle();
  });
}

// Schedules a cycle for the next time at which something is due without a change.
void Operator::armWake(const core::Plan& plan) {
  deps_.executor.cancel(wake_);
  std::optional<base::Instant> due = executor_.nextWake();
  if (plan.wakeAt) {
    const base::Instant at = deps_.executor.now() + std::max(base::WallTime::duration::zero(),
                                                             *plan.wakeAt - deps_.executor.wallNow());
    due = due ? std::min(*due, at) : at;
  }
  if (!due) return;
  wake_ = deps_.executor.postAt(*due, [this, alive = alive_] {
    if (*alive) requestCycle();
  });
}

}  // namespace trainyard::operator_
