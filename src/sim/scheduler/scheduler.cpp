#include "sim/scheduler/scheduler.h"

#include <utility>

#include <fmt/format.h>

#include "codec/node.h"
#include "sim/api/json.h"
#include "sim/scheduler/node_chooser.h"

namespace trainyard::sim {
namespace {

std::string failureMessage(std::size_t total, const std::map<std::string, int>& refusals) {
  std::string message = fmt::format("0/{} nodes are available: ", total);
  bool first = true;
  for (const auto& [text, count] : refusals) {
    message += fmt::format("{}{} {}", first ? "" : ", ", count, text);
    first = false;
  }
  return message + ".";
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options, Dependencies dependencies)
    : options_(std::move(options)),
      deps_(dependencies),
      nodes_(codec::decodeNode, deps_.log.named("scheduler-cache")),
      pods_(decodeSchedulerPod, deps_.log.named("scheduler-cache")),
      queue_(options_.queue),
      timer_(deps_.executor, [this] { attemptNext(); }) {
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(kube::ReflectorOptions{.type = type}, deps_.api,
                                                            deps_.executor, deps_.rng.split(),
                                                            deps_.log.named("scheduler-reflector"), sink));
  };
  add(kube::kNodes, nodes_);
  add(kube::kPods, pods_);
  nodes_.onChange([this](const auto&, const auto&) {
    queue_.happened(SchedulingQueue::Event::kCapacity, deps_.executor.now());
    wake();
  });
  pods_.onChange([this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
}

Scheduler::~Scheduler() { *alive_ = false; }

void Scheduler::start() {
  for (const auto& reflector : reflectors_) reflector->start();
}

bool Scheduler::isOurs(const SchedulerPod& each) const {
  return each.schedulerName == options_.name && !each.pod.bound() && !each.pod.gated &&
         !each.pod.terminating && !each.pod.finished();
}

void Scheduler::podChanged(const PodPtr& before, const PodPtr& after) {
  // A name that was reused at once appears as one change with two pods.
  if (before && after && before->pod.uid != after->pod.uid) {
    podChanged(before, nullptr);
    podChanged(nullptr, after);
    return;
  }
  usage_.podChanged(before, after);
  queuePod(before, after);
  const bool capacityAppeared = before && usesNode(*before) && (!after || !usesNode(*after));
  const bool assigned = (before && before->pod.bound()) || (after && after->pod.bound());
  if (capacityAppeared) {
    queue_.happened(SchedulingQueue::Event::kCapacity, deps_.executor.now());
  } else if (assigned) {
    queue_.happened(SchedulingQueue::Event::kOther, deps_.executor.now());
  }
  wake();
}

void Scheduler::queuePod(const PodPtr& before, const PodPtr& after) {
  if (!after || !isOurs(*after)) {
    const model::Uid& uid = (after ? after : before)->pod.uid;
    queue_.remove(uid);
    keys_.erase(uid);
    return;
  }
  // Its binding is in flight.
  if (usage_.isAssumed(after->pod.uid)) return;
  keys_.emplace(after->pod.uid, after->pod.key);
  const bool spec =
      before && (before->pod.shape != after->pod.shape || before->pod.gated != after->pod.gated);
  queue_.add(after->pod.uid, after->pod.priority, deps_.executor.now());
  if (spec) queue_.edited(after->pod.uid, deps_.executor.now());
}

void Scheduler::wake() {
  if (const auto due = queue_.nextDue(deps_.executor.now())) timer_.schedule(*due);
}

void Scheduler::attemptNext() {
  const base::Instant now = deps_.executor.now();
  const auto uid = queue_.pop(now);
  if (uid) {
    const PodPtr pod = pods_.find(keys_.at(*uid));
    timer_.busyUntil(now + options_.attemptTime);
    attempt(pod);
  }
  wake();
}

void Scheduler::attempt(const PodPtr& pod) {
  const NodeChooser nodes(nodes_, usage_, deps_.extender);
  const auto search = nodes.search(pod->pod);
  if (!search) {
    queue_.failed(pod->pod.uid, SchedulingQueue::Waits::kBackoffOnly, deps_.executor.now());
    return reportCondition(pod, "SchedulerError", search.error().message);
  }
  if (search->left.empty()) return giveUp(pod, *search);
  bind(pod, nodes.best(pod->pod, *search));
}

void Scheduler::bind(const PodPtr& pod, const model::NodeName& node) {
  const model::Pod& bound = pod->pod;
  queue_.remove(bound.uid);
  keys_.erase(bound.uid);
  usage_.assume(bound, node);
  const Json binding = {
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"namespace", bound.key.ns}, {"name", bound.key.name}, {"uid", bound.uid.str()}}},
      {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.str()}}}};
  deps_.api.create(kube::kPods.object(bound.key.ns, bound.key.name, "binding"), dumpJson(binding),
                   [this, pod, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                     if (*alive && !answer) bindingFailed(pod, answer.error());
                   });
}

void Scheduler::bindingFailed(const PodPtr& pod, const base::Error& error) {
  usage_.forget(pod->pod.uid);
  const PodPtr now = pods_.find(pod->pod.key);
  if (!now || now->pod.uid != pod->pod.uid || !isOurs(*now)) return;
  keys_.emplace(now->pod.uid, now->pod.key);
  queue_.add(now->pod.uid, now->pod.priority, deps_.executor.now());
  queue_.failed(now->pod.uid, SchedulingQueue::Waits::kBackoffOnly, deps_.executor.now());
  reportCondition(now, "SchedulerError", error.message);
  wake();
}

void Scheduler::giveUp(const PodPtr& pod, const NodeSearch& search) {
  queue_.failed(
      pod->pod.uid,
      search.byExtender ? SchedulingQueue::Waits::kForAnything : SchedulingQueue::Waits::kForCapacity,
      deps_.executor.now());
  reportCondition(pod, "Unschedulable", failureMessage(search.total, search.refusals));
}

// As client-go's UpdatePodCondition: the transition time changes with the status, not with the reason. A pod
// that was gated keeps that time.
void Scheduler::reportCondition(const PodPtr& pod, const std::string& reason, const std::string& message) {
  const bool newStatus = pod->conditionStatus != "False";
  if (!newStatus && pod->conditionReason == reason && pod->conditionMessage == message) return;
  Json condition = {{"type", "PodScheduled"}, {"status", "False"}, {"reason", reason}, {"message", message}};
  if (newStatus) condition["lastTransitionTime"] = base::formatTime(deps_.executor.wallNow());
  const Json patch = {{"metadata", {{"uid", pod->pod.uid.str()}}},
                      {"status", {{"conditions", Json::array({condition})}}}};
  deps_.api.patch(kube::PatchType::kStrategicMerge,
                  kube::kPods.object(pod->pod.key.ns, pod->pod.key.name, "status"), dumpJson(patch),
                  [](const base::Result<kube::ApiResponse>&) {});
}

}  // namespace trainyard::sim
