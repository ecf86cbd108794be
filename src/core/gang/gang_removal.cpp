#include "core/gang/gang_removal.h"

#include <algorithm>
#include <variant>

namespace trainyard::core {
namespace {

constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

// Between the clock of the API server, which sets a pod's deletion time, and ours.
constexpr std::chrono::minutes kClockSkew{1};

bool outOfService(const model::Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const auto& taint) { return taint.key == kOutOfService; });
}

}  // namespace

void Removal::remove(const model::Pod& pod) {
  anyLeft_ = true;
  if (!pod.terminating) {
    const bool tooLong = pod.grace > settings_.maxGrace;
    DeletePod& deletion = std::get<DeletePod>(actions_.emplace_back(DeletePod{pod.key, pod.uid}));
    if (tooLong) deletion.grace = settings_.maxGrace;
    deletion.evict = !pod.gangUid.empty();
    return;
  }
  if (outlasts(pod, settings_, now_))
    actions_.emplace_back(DeletePod{pod.key, pod.uid, false, settings_.maxGrace});
  const auto wake = [&](base::WallTime at) { wakeAt_ = wakeAt_ ? std::min(*wakeAt_, at) : at; };
  // From that time on users need a message that names the pod.
  if (pod.deletionTime && *pod.deletionTime > now_) wake(*pod.deletionTime);
  const auto when = forceTime(pod);
  if (!when) return;
  if (*when <= now_) {
    actions_.emplace_back(DeletePod{pod.key, pod.uid, true});
  } else {
    wake(*when);
  }
}

bool Removal::outlasts(const model::Pod& pod, const Settings& settings, base::WallTime now) {
  return pod.deletionTime && *pod.deletionTime > now + settings.maxGrace + kClockSkew;
}

std::optional<base::WallTime> Removal::forceTime(const model::Pod& pod) const {
  if (!pod.bound()) return std::nullopt;  // it does not run: only a foreign finalizer can hold it
  const base::WallTime due = pod.deletionTime.value_or(now_);
  const auto at = ledger_.find(pod.node);
  if (!at) return due;
  const model::Node& node = *ledger_.nodes()[*at].node;
  if (outOfService(node)) return due;
  if (node.ready || !settings_.unreachableGrace) return std::nullopt;
  return std::max(due, node.readyChanged + *settings_.unreachableGrace);
}

}  // namespace trainyard::core
