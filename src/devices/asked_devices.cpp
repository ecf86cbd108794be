#include "devices/asked_devices.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace trainyard::devices {
namespace {

using model::DeviceClaimRef;
using model::DeviceRequests;
using model::ResourceClaim;

const ResourceClaim* claimOf(const DeviceClaimRef& claim, const std::string& ns,
                             const model::Devices& objects) {
  return claim.claimName.empty() ? nullptr : objects.claims.find(model::ObjectKey{ns, claim.claimName});
}

// The requests of a claim without devices; nullptr if it has them, or if nothing describes it.
const DeviceRequests* openRequests(const DeviceClaimRef& claim, const std::string& ns,
                                   const model::Devices& objects) {
  const ResourceClaim* made = claimOf(claim, ns, objects);
  if (made != nullptr) return made->allocated ? nullptr : &made->requests;
  if (claim.templateName.empty()) return nullptr;
  const auto* from = objects.templates.find(model::ObjectKey{ns, claim.templateName});
  return from == nullptr ? nullptr : &from->requests;
}

std::string problemOf(const DeviceClaimRef& claim, const DeviceRequests* requests, const Catalog& catalog) {
  if (claim.templateName.empty())
    return fmt::format(
        "spec.resourceClaims[{}].resourceClaimName: pods share its devices, which is not counted; use "
        "resourceClaimTemplateName",
        claim.name);
  const std::string from =
      fmt::format("spec.resourceClaims[{}]: ResourceClaimTemplate {}", claim.name, claim.templateName);
  if (requests == nullptr) return from + " does not exist";
  if (!requests->unsupported.empty()) return fmt::format("{}: {}", from, requests->unsupported);
  for (const auto& each : requests->counted) {
    if (const std::string& why = catalog.problem(each.request); !why.empty())
      return fmt::format("{}: {}", from, why);
  }
  return {};
}

}  // namespace

AskedDevices askedBy(const std::vector<DeviceClaimRef>& claims, const std::string& ns,
                     const DeviceFacts& facts) {
  AskedDevices asked;
  std::set<std::string_view> shared;
  for (const DeviceClaimRef& claim : claims) {
    if (claim.templateName.empty() && !shared.insert(claim.claimName).second) continue;
    const ResourceClaim* made = claimOf(claim, ns, facts.objects);
    if (made != nullptr && made->allocated) continue;
    const DeviceRequests* requests = openRequests(claim, ns, facts.objects);
    if (asked.problem.empty())
      asked.problem = facts.isServed
                          ? problemOf(claim, requests, *facts.catalog)
                          : "spec.resourceClaims: needs resource.k8s.io/v1, of Kubernetes 1.34 or later";
    if (requests == nullptr) {
      asked.amount.add(facts.catalog->askedByUnknown());
      continue;
    }
    for (const auto& each : requests->counted)
      asked.amount.add(facts.catalog->asked(each.request).times(each.count));
  }
  return asked;
}

bool isHeldBy(const ResourceClaim& claim, const model::Pod& pod) {
  const auto& claims = pod.shape.deviceClaims;
  const bool isListed = std::any_of(claims.begin(), claims.end(), [&](const DeviceClaimRef& each) {
    return each.claimName == claim.key.name && !each.templateName.empty();
  });
  return isListed && claim.podUid == pod.uid && pod.bound() && !pod.finished();
}

model::Resources heldBy(const model::Pod& pod, const DeviceFacts& facts) {
  model::Resources held;
  for (const DeviceClaimRef& claim : pod.shape.deviceClaims) {
    const ResourceClaim* made = claimOf(claim, pod.key.ns, facts.objects);
    if (made == nullptr || !isHeldBy(*made, pod)) continue;
    for (const model::DeviceName& each : made->devices) {
      if (const auto* device = facts.catalog->held(each)) held.add(*device->amount);
    }
  }
  return held;
}

model::Resources takenBeside(const model::Resources& requests, const Catalog& catalog) {
  model::Resources taken;
  for (const auto& [name, amount] : requests.extendedAll()) {
    if (const auto* beside = catalog.askedBeside(name)) taken.add(beside->times(amount));
  }
  return taken;
}

void RequestsInUse::add(const std::vector<DeviceClaimRef>& claims, const std::string& ns,
                        const model::Devices& objects) {
  auto& known = byNamespace_[ns];
  for (const DeviceClaimRef& claim : claims) {
    const DeviceRequests* requests = openRequests(claim, ns, objects);
    if (requests == nullptr) continue;
    for (const auto& each : requests->counted) {
      if (known.size() == kMaxRequestsOfNamespace) return;
      known.insert(each.request);
    }
  }
}

std::vector<model::DeviceRequest> RequestsInUse::all() const {
  std::set<model::DeviceRequest> kept;
  for (const auto& [ns, requests] : byNamespace_) {
    for (const model::DeviceRequest& each : requests) {
      if (kept.size() < kMaxRequests) kept.insert(each);
    }
  }
  return {kept.begin(), kept.end()};
}

}  // namespace trainyard::devices
