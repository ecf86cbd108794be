#include "sim/scheduler/scheduler.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "codec/node.h"
#include "codec/pod.h"
#include "core/ledger/fit.h"
#include "model/one_per_node.h"
#include "sim/api/json.h"
#include "sim/nodes/read_json.h"

namespace trainyard::sim {
namespace {

using core::NodeMisfitReason;

// The messages of kube-scheduler's plug-ins.
std::string pluginText(const core::NodeMisfit& misfit) {
  switch (misfit.reason) {
    case NodeMisfitReason::kDeleting:
    case NodeMisfitReason::kCordoned: return "node(s) were unschedulable";
    case NodeMisfitReason::kNotReady:
    case NodeMisfitReason::kNodeTrouble:
    case NodeMisfitReason::kTaint: return "node(s) had untolerated taint(s)";
    case NodeMisfitReason::kNodeSelector:
    case NodeMisfitReason::kAffinity: return "node(s) didn't match Pod's node affinity/selector";
    case NodeMisfitReason::kVolume: return "node(s) didn't match PersistentVolume's node affinity";
  }
  return {};
}

// One text for each resource that does not fit, as NodeResourcesFit counts them.
std::vector<std::string> insufficient(model::Resources free, const model::Resources& wanted) {
  std::vector<std::string> texts;
  if (free.pods < wanted.pods) texts.emplace_back("Too many pods");
  if (wanted.cpu.value > 0 && free.cpu < wanted.cpu) texts.emplace_back("Insufficient cpu");
  if (wanted.memory.value > 0 && free.memory < wanted.memory) texts.emplace_back("Insufficient memory");
  if (wanted.ephemeralStorage.value > 0 && free.ephemeralStorage < wanted.ephemeralStorage) {
    texts.emplace_back("Insufficient ephemeral-storage");
  }
  for (const auto& [name, amount] : wanted.extendedAll()) {
    if (model::isOnePerNode(name)) {
      if (free.extended(name) + 1 >= amount) continue;
      const bool port = name.starts_with(model::kHostPortPrefix);
      texts.emplace_back(port ? "node(s) didn't have free ports for the requested pod ports"
                              : "node(s) didn't match pod anti-affinity rules");
    } else if (free.extended(name) < amount) {
      texts.push_back(fmt::format("Insufficient {}", name));
    }
  }
  return texts;
}

// The share of a node that is left, in hundredths: NodeResourcesFit's LeastAllocated over cpu and memory.
std::int64_t leftOver(std::int64_t free, std::int64_t wanted, std::int64_t total) {
  return total <= 0
             ? 0
             : std::clamp<std::int64_t>((free - wanted) / std::max<std::int64_t>(total / 100, 1), 0, 100);
}

std::string failureMessage(std::size_t total, const std::map<std::string, int>& refusals) {
  std::string message = fmt::format("0/{} nodes are available: ", total);
  bool first = true;
  for (const auto& [text, count] : refusals) {
    message += fmt::format("{}{} {}", first ? "" : ", ", count, text);
    first = false;
  }
  return message + ".";
}

bool counts(const SchedulerPod& each) { return each.pod.bound() && !each.pod.finished(); }

}  // namespace

base::Result<SchedulerPod> decodeSchedulerPod(std::string_view json) {
  auto pod = codec::decodePodToSchedule(json);
  if (!pod) return base::fail(pod.error());
  const auto document = codec::JsonDocument::parseObject(json);
  if (!document) return base::fail(document.error());
  const codec::JsonValue root = document->root();
  SchedulerPod result{std::move(*pod), textAt(root, {"spec", "schedulerName"}), {}, {}, {}};
  valueAt(root, {"status", "conditions"}).forEachElement([&](codec::JsonValue condition) {
    if (textAt(condition, {"type"}) != "PodScheduled") return;
    result.conditionStatus = textAt(condition, {"status"});
    result.conditionReason = textAt(condition, {"reason"});
    result.conditionMessage = textAt(condition, {"message"});
  });
  return result;
}

Scheduler::Scheduler(SchedulerOptions options, Dependencies dependencies)
    : options_(std::move(options)),
      deps_(dependencies),
      nodes_(codec::decodeNode, deps_.log.named("scheduler-cache")),
      pods_(decodeSchedulerPod, deps_.log.named("scheduler-cache")),
      queue_(options_.queue) {
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

// --- watch events
// ------------------------------------------------------------------------------------------

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
  countUsed(before, after);
  queuePod(before, after);
  const bool capacityAppeared = before && counts(*before) && (!after || !counts(*after));
  const bool assigned = (before && before->pod.bound()) || (after && after->pod.bound());
  if (capacityAppeared) {
    queue_.happened(SchedulingQueue::Event::kCapacity, deps_.executor.now());
  } else if (assigned) {
    queue_.happened(SchedulingQueue::Event::kOther, deps_.executor.now());
  }
  wake();
}

void Scheduler::countUsed(const PodPtr& before, const PodPtr& after) {
  if (!after || after->pod.bound()) forget((after ? after : before)->pod.uid);
  if (before && counts(*before)) used_[before->pod.node].subtract(before->pod.shape.requests);
  if (after && counts(*after)) used_[after->pod.node].add(after->pod.shape.requests);
}

void Scheduler::forget(const model::Uid& pod) {
  const auto found = assumed_.find(pod);
  if (found == assumed_.end()) return;
  used_[found->second.node].subtract(found->second.requests);
  assumed_.erase(found);
}

void Scheduler::queuePod(const PodPtr& before, const PodPtr& after) {
  if (!after || !isOurs(*after)) {
    const model::Uid& uid = (after ? after : before)->pod.uid;
    queue_.remove(uid);
    keys_.erase(uid);
    return;
  }
  // Its binding is in flight.
  if (assumed_.contains(after->pod.uid)) return;
  keys_.emplace(after->pod.uid, after->pod.key);
  const bool spec =
      before && (before->pod.shape != after->pod.shape || before->pod.gated != after->pod.gated);
  queue_.add(after->pod.uid, after->pod.priority, deps_.executor.now());
  if (spec) queue_.edited(after->pod.uid, deps_.executor.now());
}

// --- one pod at a time
// ----------------------------------------------------------------------------------------------

void Scheduler::wake() {
  const base::Instant now = deps_.executor.now();
  auto due = queue_.nextDue(now);
  if (!due) return;
  due = std::max(*due, busyUntil_);
  if (*due >= wakeAt_) return;
  deps_.executor.cancel(wakeTimer_);
  wakeAt_ = *due;
  wakeTimer_ = deps_.executor.postAt(*due, [this, alive = alive_] {
    if (!*alive) return;
    wakeAt_ = base::Instant::max();
    attemptNext();
  });
}

void Scheduler::attemptNext() {
  const base::Instant now = deps_.executor.now();
  const auto uid = queue_.pop(now);
  if (uid) {
    const PodPtr pod = pods_.find(keys_.at(*uid));
    ++attempts_;
    busyUntil_ = now + options_.attemptTime;
    attempt(pod);
  }
  wake();
}

void Scheduler::attempt(const PodPtr& pod) {
  Search search = filterNodes(pod->pod);
  const bool managed = deps_.extender != nullptr && pod->pod.shape.requests.gpus() > 0;
  if (managed && !search.left.empty()) {
    if (const auto asked = askExtender(pod->pod, search); !asked) {
      queue_.failed(pod->pod.uid, SchedulingQueue::Waits::kBackoffOnly, deps_.executor.now());
      return reportCondition(pod, "SchedulerError", asked.error().message);
    }
  }
  if (search.left.empty()) return giveUp(pod, search);
  bind(pod, choose(pod->pod, search));
}

model::Resources Scheduler::freeOn(const model::Node& node) const {
  model::Resources free = node.allocatable;
  if (const auto found = used_.find(node.name); found != used_.end()) free.subtract(found->second);
  return free;
}

Scheduler::Search Scheduler::filterNodes(const model::Pod& pod) const {
  Search search;
  for (const auto& node : nodes_.all()) {
    ++search.total;
    if (pod.pinned && *pod.pinned != node->name) {
      // The affinity's PreFilter leaves only one node.
      ++search.refusals["node(s) didn't satisfy plugin(s) [NodeAffinity]"];
      continue;
    }
    if (const auto misfit = core::nodeMisfit(*node, pod.shape)) {
      ++search.refusals[pluginText(*misfit)];
      continue;
    }
    const auto missing = insufficient(freeOn(*node), pod.shape.requests);
    for (const std::string& text : missing) ++search.refusals[text];
    if (missing.empty()) search.left.push_back(node->name.str());
  }
  return search;
}

base::Result<void> Scheduler::askExtender(const model::Pod& pod, Search& search) {
  auto verdict = deps_.extender->filter(pod, search.left);
  if (!verdict) return base::fail(verdict.error());
  search.byExtender = !verdict->refused.empty();
  for (const auto& [node, message] : verdict->refused) ++search.refusals[message];
  search.left = std::move(verdict->accepted);
  return {};
}

model::NodeName Scheduler::choose(const model::Pod& pod, const Search& search) {
  if (search.left.size() == 1) return model::NodeName(search.left.front());
  const bool managed = deps_.extender != nullptr && pod.shape.requests.gpus() > 0;
  const std::vector<int> advice =
      managed ? deps_.extender->prioritize(pod, search.left) : std::vector<int>(search.left.size(), 0);
  std::tuple<std::int64_t, std::string> best{1, {}};
  for (std::size_t i = 0; i < search.left.size(); ++i) {
    const auto node = nodes_.find(model::NodeName(search.left[i]));
    const model::Resources free = freeOn(*node);
    const std::int64_t left =
        (leftOver(free.cpu.value, pod.shape.requests.cpu.value, node->allocatable.cpu.value) +
         leftOver(free.memory.value, pod.shape.requests.memory.value, node->allocatable.memory.value)) /
        2;
    best = std::min(best, {-(left + std::int64_t{advice[i]} * 10), search.left[i]});
  }
  return model::NodeName(std::get<std::string>(best));
}

void Scheduler::bind(const PodPtr& pod, const model::NodeName& node) {
  const model::Pod& bound = pod->pod;
  queue_.remove(bound.uid);
  keys_.erase(bound.uid);
  used_[node].add(bound.shape.requests);
  assumed_[bound.uid] = {node, bound.shape.requests};
  const Json binding = {
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"namespace", bound.key.ns}, {"name", bound.key.name}, {"uid", bound.uid.str()}}},
      {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.str()}}}};
  deps_.api.create(kube::kPods.object(bound.key.ns, bound.key.name, "binding"), dumpJson(binding),
                   [this, pod, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                     if (!*alive) return;
                     if (!answer) return bindingFailed(pod, answer.error());
                     ++bindings_;
                   });
}

void Scheduler::bindingFailed(const PodPtr& pod, const base::Error& error) {
  forget(pod->pod.uid);
  const PodPtr now = pods_.find(pod->pod.key);
  if (!now || now->pod.uid != pod->pod.uid || !isOurs(*now)) return;
  keys_.emplace(now->pod.uid, now->pod.key);
  queue_.add(now->pod.uid, now->pod.priority, deps_.executor.now());
  queue_.failed(now->pod.uid, SchedulingQueue::Waits::kBackoffOnly, deps_.executor.now());
  reportCondition(now, "SchedulerError", error.message);
  wake();
}

void Scheduler::giveUp(const PodPtr& pod, const Search& search) {
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
