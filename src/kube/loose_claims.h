#pragma once

#include <functional>
#include <map>
#include <memory>

#include "base/executor.h"
#include "base/time.h"
#include "devices/catalog.h"
#include "kube/cluster_cache.h"
#include "kube/device_caches.h"

namespace trainyard::kube {

// The allocated claims whose devices no pod of the cluster is counted for: of pods that are gone, or have no
// node yet; claims that pods share; and those of extended resources, which count for their pod under that
// name alone. Their devices are taken from what the node offers. Lives on the executor's loop.
class LooseClaims {
 public:
  // `changed` is called when time alone makes a claim loose.
  LooseClaims(ClusterCache& cluster, ObjectCache<model::ResourceClaim>& claims,
              std::function<void()> changed);
  ~LooseClaims() { *alive_ = false; }
  LooseClaims(const LooseClaims&) = delete;
  LooseClaims& operator=(const LooseClaims&) = delete;

  void start(base::Executor& executor) { executor_ = &executor; }
  // What they hold of each node.
  [[nodiscard]] std::map<model::NodeName, model::Resources> held(const devices::Catalog& catalog) const;

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;
  using ClaimPtr = std::shared_ptr<const model::ResourceClaim>;

  void claimChanged(const ClaimPtr& before, const ClaimPtr& after);
  void podChanged(const model::Pod& pod);
  void lookAt(const ClaimPtr& claim);
  [[nodiscard]] bool isLoose(const model::ResourceClaim& claim);
  // Whether its pod is gone for so short a time that its devices will be free in a moment.
  [[nodiscard]] bool isBeingFreed(const model::ResourceClaim& claim);

  ClusterCache& cluster_;
  ObjectCache<model::ResourceClaim>& claims_;
  std::function<void()> changed_;
  base::Executor* executor_ = nullptr;
  std::map<model::ObjectKey, ClaimPtr> loose_;
  std::map<model::ObjectKey, base::Instant> goneSince_;  // the pods of allocated claims
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::kube
