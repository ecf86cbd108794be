#include "kube/loose_claims.h"

#include <chrono>
#include <utility>

#include "devices/asked_devices.h"

namespace trainyard::kube {
namespace {

// kube-controller-manager frees the devices of a pod that is gone within a second, unless it is busy.
constexpr std::chrono::seconds kFreedWithin{5};

}  // namespace

LooseClaims::LooseClaims(ClusterCache& cluster, ObjectCache<model::ResourceClaim>& claims,
                         std::function<void()> changed)
    : cluster_(cluster), claims_(claims), changed_(std::move(changed)) {
  claims_.onChange([this](const ClaimPtr& before, const ClaimPtr& after) { claimChanged(before, after); });
  cluster_.pods.onChange([this](const PodPtr& before, const PodPtr& after) {
    if (before) podChanged(*before);
    if (after) podChanged(*after);
  });
}

void LooseClaims::claimChanged(const ClaimPtr& before, const ClaimPtr& after) {
  const ClaimPtr& claim = after ? after : before;
  if (!after || after->devices.empty()) goneSince_.erase(claim->key);
  if (after) return lookAt(after);
  loose_.erase(claim->key);
}

void LooseClaims::podChanged(const model::Pod& pod) {
  for (const auto& each : pod.shape.deviceClaims) {
    if (const auto claim = claims_.find({pod.key.ns, each.claimName})) lookAt(claim);
  }
}

void LooseClaims::lookAt(const ClaimPtr& claim) {
  if (isLoose(*claim)) {
    loose_[claim->key] = claim;
  } else {
    loose_.erase(claim->key);
  }
}

bool LooseClaims::isLoose(const model::ResourceClaim& claim) {
  if (claim.devices.empty()) return false;
  if (claim.podUid.empty()) return true;
  const PodPtr pod = cluster_.pods.find({claim.key.ns, claim.pod});
  const bool isGone = !pod || pod->uid != claim.podUid || pod->finished();
  if (isGone) return !isBeingFreed(claim);
  goneSince_.erase(claim.key);
  return !devices::isHeldBy(claim, *pod);
}

// A victim's devices are needed as soon as its pod is gone. Its claim goes a moment later, and
// kube-scheduler, which has the last word, tries again then. (Rejected: waiting for the claim. Each
// preemption would take a further round.)
bool LooseClaims::isBeingFreed(const model::ResourceClaim& claim) {
  if (executor_ == nullptr) return false;
  const base::Instant now = executor_->now();
  const auto [at, isNew] = goneSince_.try_emplace(claim.key, now);
  if (!isNew) return now - at->second < kFreedWithin;
  executor_->postAfter(kFreedWithin, [this, key = claim.key, alive = alive_] {
    if (!*alive) return;
    const auto still = claims_.find(key);
    if (!still || still->devices.empty()) return;
    lookAt(still);
    changed_();
  });
  return true;
}

std::map<model::NodeName, model::Resources> LooseClaims::held(const devices::Catalog& catalog) const {
  std::map<model::NodeName, model::Resources> held;
  for (const auto& [key, claim] : loose_) {
    const PodPtr pod = claim->forExtended ? cluster_.pods.find({key.ns, claim->pod}) : nullptr;
    const bool isCounted = pod && pod->uid == claim->podUid && pod->bound();
    for (const model::DeviceName& each : claim->devices) {
      const auto* device = catalog.held(each);
      if (device == nullptr) continue;
      model::Resources amount = *device->amount;
      // What its pod requests by name counts for the pod.
      if (isCounted) {
        for (const auto& [name, pieces] : pod->shape.requests.extendedAll()) amount.setExtended(name, 0);
      }
      held[device->node].add(amount);
    }
  }
  return held;
}

}  // namespace trainyard::kube
