#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "devices/catalog.h"
#include "model/device.h"
#include "model/pod.h"

namespace trainyard::devices {

// What is known of devices at one moment. Immutable; any number of threads may read it.
struct DeviceFacts {
  model::Devices objects;
  std::shared_ptr<const Catalog> catalog;
  bool isServed = true;  // false: the API server has no resource.k8s.io/v1
};

struct AskedDevices {
  model::Resources amount;
  // Why these devices cannot be promised, with the field; empty if they can. `amount` is then the most that
  // the pod may take.
  std::string problem = {};
};

// Returns what a pod with these claims will take on its node, beyond what its claims already hold.
[[nodiscard]] AskedDevices askedBy(const std::vector<model::DeviceClaimRef>& claims, const std::string& ns,
                                   const DeviceFacts& facts);

// Returns what a bound pod holds by claims of its own. kube-scheduler allocates claims before it binds.
[[nodiscard]] model::Resources heldBy(const model::Pod& pod, const DeviceFacts& facts);

// Whether heldBy() counts the claim's devices for this pod, on its node.
[[nodiscard]] bool isHeldBy(const model::ResourceClaim& claim, const model::Pod& pod);

// Returns what pods with these requests of extended resources take besides.
[[nodiscard]] model::Resources takenBeside(const model::Resources& requests, const Catalog& catalog);

// The requests of devices in use, each once. At most kMaxRequests, so that no tenant can make every cycle
// slow: those beyond are not among them.
inline constexpr std::size_t kMaxRequests = 128;
inline constexpr std::size_t kMaxRequestsOfNamespace = 16;
class RequestsInUse {
 public:
  // Those of unallocated claims.
  void add(const std::vector<model::DeviceClaimRef>& claims, const std::string& ns,
           const model::Devices& objects);
  [[nodiscard]] std::vector<model::DeviceRequest> all() const;

 private:
  std::map<std::string, std::set<model::DeviceRequest>> byNamespace_;
};

}  // namespace trainyard::devices
