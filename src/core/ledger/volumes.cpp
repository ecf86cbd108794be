#include "core/ledger/volumes.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace trainyard::core {
namespace {

using model::VolumeClaim;

template <typename T, typename Key, typename KeyOf>
const T* findIn(const model::SharedList<T>& list, const Key& key, KeyOf keyOf) {
  const auto at = std::lower_bound(list.begin(), list.end(), key, [&](const auto& each, const Key& wanted) {
    return keyOf(*each) < wanted;
  });
  return at == list.end() || keyOf(**at) != key ? nullptr : at->get();
}

template <typename T>
const T* findNamed(const model::SharedList<T>& list, const std::string& name) {
  return findIn(list, name, [](const T& each) -> const std::string& { return each.name; });
}

// Why a claim that is not bound keeps its pods from running; empty where it does not.
std::string whyUnbound(const VolumeClaim& claim, const model::Volumes& volumes) {
  if (!claim.volume.empty()) return fmt::format("is not bound to its volume {} yet", claim.volume);
  if (claim.storageClass.empty()) return "is not bound yet, and names no storage class";
  const auto* storageClass = findNamed(volumes.classes, claim.storageClass);
  if (storageClass == nullptr)
    return fmt::format("is not bound, and there is no storage class {}", claim.storageClass);
  if (storageClass->waitsForConsumer) return {};
  return fmt::format("is not bound yet, and its storage class {} does not wait for a pod",
                     claim.storageClass);
}

// Adds where the claim's volume can be reached; returns why no pod with it can run, empty where one can.
std::string read(const model::ObjectKey& key, const model::Volumes& volumes, model::PodShape& shape) {
  const auto* claim =
      findIn(volumes.claims, key, [](const VolumeClaim& each) -> const auto& { return each.key; });
  if (claim == nullptr) return "does not exist";
  if (claim->deleting) return "is being deleted";
  if (!claim->bound) return whyUnbound(*claim, volumes);
  const auto* volume = findNamed(volumes.volumes, claim->volume);
  if (volume == nullptr) return fmt::format("is bound to volume {}, which does not exist", claim->volume);
  if (volume->affinity) shape.volumeAffinity.push_back(*volume->affinity);
  return {};
}

}  // namespace

std::shared_ptr<const model::Job> withVolumes(const std::shared_ptr<const model::Job>& job,
                                              const model::Volumes& volumes) {
  const auto& roles = job->spec.roles;
  if (std::all_of(roles.begin(), roles.end(),
                  [](const auto& each) { return each.shape.volumeClaims.empty(); }))
    return job;
  auto tied = std::make_shared<model::Job>(*job);
  tied->volumeProblem.clear();
  for (model::Role& role : tied->spec.roles) {
    role.shape.volumeAffinity.clear();
    for (const std::string& name : role.shape.volumeClaims) {
      const std::string why = read({job->key.ns, name}, volumes, role.shape);
      if (why.empty() || !tied->volumeProblem.empty()) continue;
      tied->volumeProblem =
          fmt::format("the pods of role {} cannot run: PersistentVolumeClaim {} {}", role.name, name, why);
    }
  }
  return tied;
}

}  // namespace trainyard::core
