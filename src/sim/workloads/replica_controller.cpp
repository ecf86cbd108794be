#include "sim/workloads/replica_controller.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kube/paths.h"
#include "sim/nodes/read_json.h"

namespace trainyard::sim {
namespace {

constexpr kube::ResourceType kReplicaSets{"apps", "v1", "replicasets"};
constexpr base::Instant::duration kSetLook = std::chrono::milliseconds(5);
constexpr base::Instant::duration kSetRetry = std::chrono::seconds(1);

}  // namespace

base::Result<ReplicaSet> decodeReplicaSet(std::string_view json) {
  const auto document = codec::JsonDocument::parseObject(json);
  if (!document) return base::fail(document.error());
  const codec::JsonValue root = document->root();
  return ReplicaSet{.key = {textAt(root, {"metadata", "namespace"}), textAt(root, {"metadata", "name"})},
                    .uid = model::Uid(textAt(root, {"metadata", "uid"})),
                    .resourceVersion = textAt(root, {"metadata", "resourceVersion"}),
                    .deleting = valueAt(root, {"metadata", "deletionTimestamp"}).present(),
                    .replicas = static_cast<int>(valueAt(root, {"spec", "replicas"}).integer().value_or(1)),
                    .podTemplate = std::string(valueAt(root, {"spec", "template"}).minified())};
}

ReplicaController::ReplicaController(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      sets_(decodeReplicaSet, deps_.log.named("replica-controller-cache")),
      pods_(decodeOwnedPod, deps_.log.named("replica-controller-cache")) {
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(
        kube::ReflectorOptions{.type = type}, deps_.api, deps_.executor, deps_.rng.split(),
        deps_.log.named("replica-controller-reflector"), sink));
  };
  add(kReplicaSets, sets_);
  add(kube::kPods, pods_);
  sets_.onChange([this](const SetPtr& before, const SetPtr& after) {
    if (before && (!after || after->uid != before->uid)) progress_.erase(before->uid);
    if (after) lookLater(after->uid, kSetLook);
  });
  pods_.onChange([this](const PodPtr& before, const PodPtr& after) {
    if (before) podChanged(before);
    if (after) podChanged(after);
  });
}

void ReplicaController::start() {
  for (const auto& reflector : reflectors_) reflector->start();
}

void ReplicaController::podChanged(const PodPtr& pod) {
  const auto at = progress_.find(pod->owner);
  if (at == progress_.end()) return;
  const bool ends = pod->phase == model::PodPhase::kSucceeded || pod->ranToItsEnd;
  if (ends && !at->second.deleted.contains(pod->uid) && !pod->terminating) at->second.ended.insert(pod->uid);
  lookLater(pod->owner, kSetLook);
}

void ReplicaController::lookLater(const model::Uid& uid, base::Instant::duration delay) {
  if (uid.empty() || !setOf(uid)) return;
  if (std::exchange(progress_[uid].looks, true)) return;
  deps_.executor.postAfter(delay, [this, uid, alive = alive_] {
    if (!*alive) return;
    const auto at = progress_.find(uid);
    if (at == progress_.end()) return;
    at->second.looks = false;
    look(uid);
  });
}

void ReplicaController::look(const model::Uid& uid) {
  const SetPtr set = setOf(uid);
  if (!set || set->deleting) return;
  Progress& progress = progress_[uid];
  // The watch may show a pod before its creation is answered: it would be counted twice.
  if (progress.creating > 0) return;
  std::vector<PodPtr> active;
  for (const PodPtr& pod : pods_.all()) {
    if (pod->owner == uid && pod->active() && !progress.deleted.contains(pod->uid)) active.push_back(pod);
  }
  const int ended = static_cast<int>(progress.ended.size());
  const int missing = set->replicas - ended - static_cast<int>(active.size());
  for (int i = 0; i < missing; ++i) createPod(*set, progress);
  if (missing < 0) removePods(std::move(active), static_cast<std::size_t>(-missing), progress);
}

void ReplicaController::createPod(const ReplicaSet& set, Progress& progress) {
  ++progress.creating;
  const PodOwner owner{"apps/v1", "ReplicaSet", set.key, set.uid};
  deps_.api.create(kube::kPods.collection(set.key.ns), podOfTemplate(set.podTemplate, owner, -1),
                   [this, uid = set.uid, alive = alive_](const base::Result<kube::ApiResponse>& made) {
                     if (!*alive) return;
                     if (made) pods_.applyWrite(made->body, kube::WriteKind::kCreate);
                     const auto at = progress_.find(uid);
                     if (at == progress_.end()) return;
                     --at->second.creating;
                     lookLater(uid, made ? kSetLook : kSetRetry);
                   });
}

void ReplicaController::removePods(std::vector<PodPtr> pods, std::size_t count, Progress& progress) {
  const auto rank = [](const PodPtr& pod) { return std::tuple(!pod->gated, pod->bound, pod->key); };
  std::sort(pods.begin(), pods.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  pods.resize(std::min(count, pods.size()));
  for (const PodPtr& pod : pods) {
    progress.deleted.insert(pod->uid);
    kube::DeleteOptions options;
    options.uid = pod->uid.str();
    deps_.api.remove(kube::kPods.object(pod->key.ns, pod->key.name), options,
                     [](const base::Result<kube::ApiResponse>&) {});
  }
}

ReplicaController::SetPtr ReplicaController::setOf(const model::Uid& uid) const {
  for (const SetPtr& set : sets_.all()) {
    if (set->uid == uid) return set;
  }
  return nullptr;
}

}  // namespace trainyard::sim
