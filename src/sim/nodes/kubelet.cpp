#include "sim/nodes/kubelet.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/node.h"
#include "sim/api/json.h"

namespace trainyard::sim {
namespace {

constexpr base::Instant::duration kRetry = std::chrono::seconds(1);
constexpr int kSigterm = 143;

bool isFinal(base::ErrorCode code) {
  return code == base::ErrorCode::kNotFound || code == base::ErrorCode::kConflict ||
         code == base::ErrorCode::kInvalid;
}

}  // namespace

Kubelets::Kubelets(KubeletOptions options, Dependencies dependencies)
    : options_(options),
      deps_(dependencies),
      nodes_(codec::decodeNode, deps_.log.named("kubelet-cache")),
      pods_(decodeKubeletPod, deps_.log.named("kubelet-cache")) {
  const auto add = [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
    reflectors_.push_back(std::make_unique<kube::Reflector>(kube::ReflectorOptions{.type = type}, deps_.api,
                                                            deps_.executor, deps_.rng.split(),
                                                            deps_.log.named("kubelet-reflector"), sink));
  };
  add(kube::kNodes, nodes_);
  add(kube::kPods, pods_);
  nodes_.onChange([this](const auto& before, const auto& after) {
    if (after && (!before || before->uid != after->uid)) nodeChanged(after);
  });
  pods_.onChange([this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
}

Kubelets::~Kubelets() { *alive_ = false; }

void Kubelets::start() {
  for (const auto& reflector : reflectors_) reflector->start();
}

// --- nodes
// ----------------------------------------------------------------------------------------------------------

void Kubelets::nodeChanged(const std::shared_ptr<const model::Node>& node) {
  deps_.executor.postAfter(options_.nodeReadyAfter, [this, name = node->name, alive = alive_] {
    if (*alive && isUp(name)) reportReady(name);
  });
  // Its kubelet may have received the pods before the node.
  for (const PodPtr& pod : pods_.all()) {
    if (pod->pod.node == node->name) look(*pod);
  }
}

void Kubelets::reportReady(const model::NodeName& node) {
  if (nodes_.find(node) == nullptr) return;
  const Json ready = {{"type", "Ready"},
                      {"status", "True"},
                      {"reason", "KubeletReady"},
                      {"message", "kubelet is posting ready status"},
                      {"lastTransitionTime", base::formatTime(deps_.executor.wallNow())}};
  const Json patch = {{"status", {{"conditions", Json::array({ready})}}}};
  deps_.api.patch(kube::PatchType::kStrategicMerge, kube::kNodes.object("", node.str(), "status"),
                  dumpJson(patch),
                  [this, node, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                    if (!*alive || answer || isFinal(answer.error().code)) return;
                    deps_.executor.postAfter(kRetry, [this, node, alive] {
                      if (*alive && isUp(node)) reportReady(node);
                    });
                  });
}

void Kubelets::setUp(const model::NodeName& node, bool up) {
  if (!up) {
    down_.insert(node);
    return;
  }
  if (down_.erase(node) == 0) return;
  reportReady(node);
  for (const PodPtr& pod : pods_.all()) {
    if (pod->pod.node == node) look(*pod);
  }
}

// --- pods
// -----------------------------------------------------------------------------------------------------------

void Kubelets::podChanged(const PodPtr& before, const PodPtr& after) {
  if (before && (!after || after->pod.uid != before->pod.uid)) {
    if (const auto found = work_.find(before->pod.uid); found != work_.end()) {
      deps_.executor.cancel(found->second.timer);
      work_.erase(found);
    }
  }
  if (after && after->pod.bound()) look(*after);
}

// Takes the next step of the pod's kubelet.
void Kubelets::look(const KubeletPod& pod) {
  if (!isUp(pod.pod.node) || nodes_.find(pod.pod.node) == nullptr) return;
  const auto [at, added] = work_.try_emplace(pod.pod.uid);
  Work& work = at->second;
  if (added) {
    work.key = pod.pod.key;
    work.node = pod.pod.node;
  }
  if (pod.pod.finished()) work.admitted = false;
  if (pod.pod.terminating) {
    if (work.stage != Stage::kStopping || pod.grace < work.grace) stop(pod, work);
    return;
  }
  if (pod.pod.finished()) return;
  if (work.stage == Stage::kSeen && pod.pod.phase == model::PodPhase::kPending) return admit(pod, work);
  if (pod.dismissed && pod.leaveFor && pod.pod.phase == model::PodPhase::kRunning) return leave(pod, work);
  const bool nowRunning = pod.pod.phase == model::PodPhase::kRunning && work.stage != Stage::kRunning;
  if (nowRunning && work.stage != Stage::kEnded) runUntilEnd(pod, work);
}

std::optional<model::ResourceShortfall> Kubelets::lacks(const KubeletPod& pod) const {
  model::Resources free = nodes_.find(pod.pod.node)->allocatable;
  for (const auto& [uid, work] : work_) {
    if (work.admitted && work.node == pod.pod.node) free.subtract(work.requests);
  }
  return free.shortfallFor(pod.pod.shape.requests);
}

void Kubelets::admit(const KubeletPod& pod, Work& work) {
  if (const auto lacking = lacks(pod)) {
    ++refusals_;
    work.stage = Stage::kEnded;
    const std::string reason = "OutOf" + lacking->resource;
    const std::string message =
        fmt::format("Pod was rejected: Node didn't have enough resource: {}, requested: {}, available: {}",
                    lacking->resource, lacking->wanted, lacking->available);
    deps_.log.warning("a pod was refused", {{"namespace", pod.pod.key.ns},
                                            {"pod", pod.pod.key.name},
                                            {"node", pod.pod.node.str()},
                                            {"message", message}});
    return patchStatus(pod, refusedPatch(pod, reason, message, deps_.executor.wallNow()), [](bool) {});
  }
  work.admitted = true;
  work.requests = pod.pod.shape.requests;
  work.stage = Stage::kStarting;
  const auto longest = options_.startTime.count() * 2;
  const std::chrono::microseconds delay(deps_.rng.between(options_.startTime.count(), longest));
  later(work, pod.pod.uid, delay, [this](const KubeletPod& now, Work&) {
    ++lastIp_;
    const std::string ip =
        fmt::format("10.{}.{}.{}", lastIp_ / 65'536 % 256, lastIp_ / 256 % 256, lastIp_ % 256);
    patchStatus(now, runningPatch(now, ip, deps_.executor.wallNow()), [](bool) {});
  });
}

void Kubelets::runUntilEnd(const KubeletPod& pod, Work& work) {
  work.stage = Stage::kRunning;
  work.admitted = true;
  work.requests = pod.pod.shape.requests;
  work.started = deps_.executor.wallNow();
  if (!pod.runFor) return;
  later(work, pod.pod.uid, *pod.runFor, [this](const KubeletPod& now, Work& ended) {
    ended.stage = Stage::kEnded;
    const std::string reason =
        !now.exitReason.empty() ? now.exitReason : std::string(now.exitCode == 0 ? "Completed" : "Error");
    patchStatus(now, endedPatch(now, now.exitCode, reason, ended.started, deps_.executor.wallNow()),
                [](bool) {});
  });
}

// The pod has read that it is no longer a member.
void Kubelets::leave(const KubeletPod& pod, Work& work) {
  if (work.stage == Stage::kLeaving || work.stage == Stage::kEnded) return;
  deps_.executor.cancel(work.timer);
  work.stage = Stage::kLeaving;
  work.admitted = true;
  work.requests = pod.pod.shape.requests;
  if (work.started == base::WallTime{}) work.started = deps_.executor.wallNow();
  later(work, pod.pod.uid, *pod.leaveFor, [this](const KubeletPod& now, Work& left) {
    left.stage = Stage::kEnded;
    patchStatus(now, endedPatch(now, 0, "Completed", left.started, deps_.executor.wallNow()), [](bool) {});
  });
}

// Deleted: the containers are signalled, then the pod reaches a final phase, and only then it is removed.
void Kubelets::stop(const KubeletPod& pod, Work& work) {
  const bool runs = pod.pod.phase == model::PodPhase::kRunning && work.stage != Stage::kEnded;
  const bool nothingToEnd = pod.pod.finished() || work.stage == Stage::kSeen;
  work.stage = Stage::kStopping;
  work.grace = pod.grace;
  deps_.executor.cancel(work.timer);
  const auto delay =
      nothingToEnd ? base::Instant::duration::zero()
                   : std::min<base::Instant::duration>(pod.stopFor.value_or(options_.stopTime), pod.grace);
  later(work, pod.pod.uid, delay, [this, runs](const KubeletPod& now, Work& stopped) {
    if (!runs || now.pod.finished()) return remove(now.pod.key, now.pod.uid);
    patchStatus(now, endedPatch(now, kSigterm, "Error", stopped.started, deps_.executor.wallNow()),
                [this, key = now.pod.key, uid = now.pod.uid](bool) { remove(key, uid); });
  });
}

void Kubelets::remove(const model::ObjectKey& pod, const model::Uid& uid) {
  kube::DeleteOptions options;
  options.uid = uid.str();
  options.gracePeriodSeconds = 0;
  deps_.api.remove(kube::kPods.object(pod.ns, pod.name), options,
                   [this, pod, uid, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                     if (!*alive || answer || isFinal(answer.error().code)) return;
                     deps_.executor.postAfter(kRetry, [this, pod, uid, alive] {
                       if (*alive && work_.contains(uid)) remove(pod, uid);
                     });
                   });
}

// --- helpers
// --------------------------------------------------------------------------------------------------------

void Kubelets::later(Work& work, const model::Uid& uid, base::Instant::duration delay,
                     std::function<void(const KubeletPod&, Work&)> step) {
  work.timer = deps_.executor.postAfter(delay, [this, uid, step = std::move(step), alive = alive_] {
    if (!*alive) return;
    const auto found = work_.find(uid);
    if (found == work_.end()) return;
    Work& mine = found->second;
    const PodPtr pod = pods_.find(mine.key);
    if (!pod || pod->pod.uid != uid) return;
    if (!isUp(mine.node)) {
      // Due steps are checked again when the kubelet is back.
      mine.stage = Stage::kSeen;
      return;
    }
    step(*pod, mine);
  });
}

void Kubelets::patchStatus(const KubeletPod& pod, std::string patch, std::function<void(bool)> done) {
  const std::string path = kube::kPods.object(pod.pod.key.ns, pod.pod.key.name, "status");
  deps_.api.patch(kube::PatchType::kStrategicMerge, path, patch,
                  [this, path, patch, uid = pod.pod.uid, done,
                   alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                    if (!*alive) return;
                    if (answer || isFinal(answer.error().code)) return done(answer.has_value());
                    deps_.executor.postAfter(kRetry, [this, uid, patch, done, alive] {
                      if (!*alive) return;
                      const auto found = work_.find(uid);
                      if (found == work_.end()) return;
                      const PodPtr now = pods_.find(found->second.key);
                      if (now && now->pod.uid == uid) patchStatus(*now, patch, done);
                    });
                  });
}

}  // namespace trainyard::sim
