#include "kube/device_uses.h"

#include <algorithm>

#include "devices/asked_devices.h"

namespace trainyard::kube {
namespace {

bool hasClaims(const model::Pod& pod) { return !pod.shape.deviceClaims.empty() && !pod.finished(); }

bool hasClaims(const model::Job& job) {
  return !job.finished() &&
         std::any_of(job.spec.roles.begin(), job.spec.roles.end(),
                     [](const model::Role& role) { return !role.shape.deviceClaims.empty(); });
}

bool claimAlike(const model::Job& a, const model::Job& b) {
  return std::equal(a.spec.roles.begin(), a.spec.roles.end(), b.spec.roles.begin(), b.spec.roles.end(),
                    [](const model::Role& x, const model::Role& y) {
                      return x.shape.deviceClaims == y.shape.deviceClaims;
                    });
}

}  // namespace

DeviceUses::DeviceUses(ClusterCache& cluster) : cluster_(cluster) {
  cluster_.pods.onChange([this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
  cluster_.jobs.onChange([this](const auto& before, const auto& after) { jobChanged(before, after); });
}

void DeviceUses::podChanged(const PodPtr& before, const PodPtr& after) {
  const bool had = before && hasClaims(*before);
  const bool has = after && hasClaims(*after);
  if (!had && !has) return;
  pods_ = pods_ - (had ? 1 : 0) + (has ? 1 : 0);
  const model::ObjectKey& key = (after ? after : before)->key;
  const bool wasOpen = openPods_.contains(key);
  const bool isOpen = has && !after->bound();
  if (isOpen) openPods_.insert(key);
  if (!isOpen) openPods_.erase(key);
  changed_ = changed_ || wasOpen != isOpen ||
             (isOpen && had && before->shape.deviceClaims != after->shape.deviceClaims);
}

void DeviceUses::jobChanged(const JobPtr& before, const JobPtr& after) {
  const bool had = before && hasClaims(*before);
  const bool has = after && hasClaims(*after);
  if (!had && !has) return;
  const model::ObjectKey& key = (after ? after : before)->key;
  if (has) jobs_.insert(key);
  if (!has) jobs_.erase(key);
  changed_ = changed_ || had != has || !claimAlike(*before, *after);
}

const std::vector<model::DeviceRequest>& DeviceUses::requests(const model::Devices& objects) {
  if (!changed_) return requests_;
  changed_ = false;
  devices::RequestsInUse uses;
  for (const model::ObjectKey& key : openPods_) {
    if (const PodPtr pod = cluster_.pods.find(key)) uses.add(pod->shape.deviceClaims, key.ns, objects);
  }
  for (const model::ObjectKey& key : jobs_) {
    const JobPtr job = cluster_.jobs.find(key);
    if (!job) continue;
    for (const model::Role& role : job->spec.roles) uses.add(role.shape.deviceClaims, key.ns, objects);
  }
  requests_ = uses.all();
  return requests_;
}

}  // namespace trainyard::kube
