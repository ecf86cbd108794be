#include "sim/nodes/node_lifecycle.h"

#include <algorithm>

#include "codec/node.h"
#include "sim/api/json.h"

namespace trainyard::sim {
namespace {

constexpr const char* kNotReady = "node.kubernetes.io/not-ready";
constexpr const char* kUnreachable = "node.kubernetes.io/unreachable";
constexpr const char* kUnschedulable = "node.kubernetes.io/unschedulable";
constexpr base::Instant::duration kEvictAgain = std::chrono::seconds(60);

bool isOurs(const model::Taint& taint) {
  return taint.key == kNotReady || taint.key == kUnreachable || taint.key == kUnschedulable;
}

const char* word(model::TaintEffect effect) {
  switch (effect) {
    case model::TaintEffect::kNoSchedule: return "NoSchedule";
    case model::TaintEffect::kPreferNoSchedule: return "PreferNoSchedule";
    case model::TaintEffect::kNoExecute: return "NoExecute";
  }
  return "";
}

}  // namespace

NodeLifecycle::NodeLifecycle(NodeLifecycleOptions options, Dependencies dependencies)
    : options_(options),
      deps_(std::move(dependencies)),
      nodes_(codec::decodeNode, deps_.log.named("node-lifecycle-cache")),
      pods_(decodeKubeletPod, deps_.log.named("node-lifecycle-cache")) {
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = type}, deps_.api, deps_.executor, deps_.rng.split(),
        deps_.log.named("node-lifecycle-reflector"), sink));
  };
  add(kube::kNodes, nodes_);
  add(kube::kPods, pods_);
  nodes_.onChange([this](const auto&, const auto& after) {
    if (after) nodeChanged(*after);
  });
}

NodeLifecycle::~NodeLifecycle() { *alive_ = false; }

void NodeLifecycle::start() {
  for (const auto& reflector : reflectors_) reflector->start();
  watchHeartbeats();
}

void NodeLifecycle::nodeChanged(const model::Node& node) {
  std::vector<model::Taint> wanted;
  for (const model::Taint& taint : node.taints) {
    if (!isOurs(taint)) wanted.push_back(taint);
  }
  if (node.unschedulable) wanted.push_back({kUnschedulable, "", model::TaintEffect::kNoSchedule});
  if (!node.ready) {
    // A node that was ready before has become unreachable; a new one has not reported yet.
    const char* key = silentSince_.contains(node.name) ? kUnreachable : kNotReady;
    wanted.push_back({key, "", model::TaintEffect::kNoSchedule});
    if (key == kUnreachable) wanted.push_back({key, "", model::TaintEffect::kNoExecute});
  }
  const bool lost = std::any_of(wanted.begin(), wanted.end(), [](const model::Taint& each) {
    return each.key == kUnreachable && each.effect == model::TaintEffect::kNoExecute;
  });
  if (lost) {
    lostSince_.try_emplace(node.name, deps_.executor.now());
  } else {
    lostSince_.erase(node.name);
  }
  if (wanted != node.taints) taint(node, std::move(wanted));
}

void NodeLifecycle::taint(const model::Node& node, std::vector<model::Taint> wanted) {
  Json taints = Json::array();
  for (const model::Taint& each : wanted) {
    Json entry = {{"key", each.key}, {"effect", word(each.effect)}};
    if (!each.value.empty()) entry["value"] = each.value;
    taints.push_back(entry);
  }
  // A merge patch replaces the list as a whole; no other client sets taints in the simulation.
  const Json patch = {{"metadata", {{"uid", node.uid.str()}}}, {"spec", {{"taints", taints}}}};
  deps_.api.patch(kube::PatchType::kMerge, kube::kNodes.object("", node.name.str()), dumpJson(patch),
                  [](const base::Result<kube::ApiResponse>&) {});
}

void NodeLifecycle::watchHeartbeats() {
  const base::Instant now = deps_.executor.now();
  for (const auto& node : nodes_.all()) {
    if (deps_.isUp(node->name)) {
      silentSince_.erase(node->name);
      // An earlier patch may have been lost.
      nodeChanged(*node);
      continue;
    }
    const base::Instant since = silentSince_.try_emplace(node->name, now).first->second;
    if (now - since < options_.monitorGrace) continue;
    if (node->ready) reportUnknown(node->name);
    nodeChanged(*node);
  }
  watchPods();
  deps_.executor.postAfter(options_.monitorPeriod, [this, alive = alive_] {
    if (*alive) watchHeartbeats();
  });
}

void NodeLifecycle::reportUnknown(const model::NodeName& node) {
  const Json ready = {{"type", "Ready"},
                      {"status", "Unknown"},
                      {"reason", "NodeStatusUnknown"},
                      {"message", "Kubelet stopped posting node status."},
                      {"lastTransitionTime", base::formatTime(deps_.executor.wallNow())}};
  const Json patch = {{"status", {{"conditions", Json::array({ready})}}}};
  deps_.api.patch(kube::PatchType::kStrategicMerge, kube::kNodes.object("", node.str(), "status"),
                  dumpJson(patch), [](const base::Result<kube::ApiResponse>&) {});
}

void NodeLifecycle::watchPods() {
  const base::Instant now = deps_.executor.now();
  for (const auto& pod : pods_.all()) {
    if (!pod->pod.bound()) continue;
    if (nodes_.find(pod->pod.node) == nullptr) {
      const base::Instant since = orphanSince_.try_emplace(pod->pod.uid, now).first->second;
      if (now - since >= options_.orphanGrace) evict(*pod, "DeletionByPodGC", true);
      continue;
    }
    orphanSince_.erase(pod->pod.uid);
    const auto lost = lostSince_.find(pod->pod.node);
    if (lost == lostSince_.end() || pod->pod.terminating || pod->pod.finished() || !pod->toleratesLostNode)
      continue;
    if (now - lost->second >= *pod->toleratesLostNode) evict(*pod, "DeletionByTaintManager", false);
  }
}

void NodeLifecycle::evict(const KubeletPod& pod, const char* reason, bool force) {
  const base::Instant now = deps_.executor.now();
  const auto [last, first] = evicted_.try_emplace(pod.pod.uid, now);
  if (!first && now - last->second < kEvictAgain) return;
  last->second = now;
  Json status = {
      {"conditions", Json::array({{{"type", "DisruptionTarget"},
                                   {"status", "True"},
                                   {"reason", reason},
                                   {"lastTransitionTime", base::formatTime(deps_.executor.wallNow())}}})}};
  if (force && !pod.pod.finished()) status["phase"] = "Failed";
  const Json patch = {{"metadata", {{"uid", pod.pod.uid.str()}}}, {"status", std::move(status)}};
  deps_.api.patch(kube::PatchType::kStrategicMerge,
                  kube::kPods.object(pod.pod.key.ns, pod.pod.key.name, "status"), dumpJson(patch),
                  [this, key = pod.pod.key, uid = pod.pod.uid, force,
                   alive = alive_](const base::Result<kube::ApiResponse>&) {
                    if (!*alive) return;
                    kube::DeleteOptions options;
                    options.uid = uid.str();
                    if (force) options.gracePeriodSeconds = 0;
                    deps_.api.remove(kube::kPods.object(key.ns, key.name), options,
                                     [](const base::Result<kube::ApiResponse>&) {});
                  });
}

}  // namespace trainyard::sim
