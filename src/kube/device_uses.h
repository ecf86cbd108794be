#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "kube/cluster_cache.h"
#include "model/device.h"

namespace trainyard::kube {

// Which pods and jobs of the cluster claim devices, and what they ask for. Lives on the executor's loop.
class DeviceUses {
 public:
  explicit DeviceUses(ClusterCache& cluster);
  DeviceUses(const DeviceUses&) = delete;
  DeviceUses& operator=(const DeviceUses&) = delete;

  [[nodiscard]] bool anyPods() const { return pods_ != 0; }
  // With claims, and not finished.
  [[nodiscard]] const std::set<model::ObjectKey>& jobs() const { return jobs_; }

  // Call when a template changes, or a claim gets or loses its devices.
  void claimsChanged() { changed_ = true; }
  // The requests in use (devices::RequestsInUse).
  [[nodiscard]] const std::vector<model::DeviceRequest>& requests(const model::Devices& objects);

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;
  using JobPtr = std::shared_ptr<const model::Job>;

  void podChanged(const PodPtr& before, const PodPtr& after);
  void jobChanged(const JobPtr& before, const JobPtr& after);

  ClusterCache& cluster_;
  std::size_t pods_ = 0;                 // with claims
  std::set<model::ObjectKey> openPods_;  // with claims, without a node
  std::set<model::ObjectKey> jobs_;
  bool changed_ = true;  // since requests_
  std::vector<model::DeviceRequest> requests_;
};

}  // namespace trainyard::kube
