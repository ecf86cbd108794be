#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/constraints.h"
#include "model/ids.h"
#include "model/shared_list.h"

namespace trainyard::model {

// Projections of the objects of resource.k8s.io (DRA) that decide which devices a pod may get.

// An attribute of the type version.
struct DeviceVersion {
  std::string text;
  friend bool operator==(const DeviceVersion&, const DeviceVersion&) = default;
};
using DeviceAttribute = std::variant<bool, std::int64_t, std::string, DeviceVersion>;

struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, NoExecute, None, or one of a later version
  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

// A device of a ResourceSlice. Names of attributes and capacities are complete: "gpu.nvidia.com/memory".
struct Device {
  std::string name;
  std::vector<std::pair<std::string, DeviceAttribute>> attributes;  // sorted by name
  // Absent: too large, or too fine, to compare.
  std::vector<std::pair<std::string, std::optional<base::Quantity>>> capacity = {};
  std::vector<DeviceTaint> taints = {};
  bool shared = false;  // allowMultipleAllocations
  bool parted = false;  // consumes counters that it shares with other devices
  // Why kube-scheduler cannot read an attribute of it; empty if it can. Any expression about it fails then.
  std::string unreadable = {};
  friend bool operator==(const Device&, const Device&) = default;
};

struct ResourceSlice {
  std::string name;
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  int slicesOfPool = 1;
  NodeName node;  // empty: its devices can be reached from several nodes
  std::vector<Device> devices;
  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

struct DeviceToleration {
  std::string key;  // empty with exists: every taint
  std::string value;
  bool exists = false;
  std::string effect = {};  // empty: every effect
  friend auto operator<=>(const DeviceToleration&, const DeviceToleration&) = default;
};

// What is asked of each device: a class, and what its own selectors add.
struct DeviceRequest {
  std::string deviceClass;
  std::vector<std::string> selectors = {};  // CEL expressions
  std::vector<DeviceToleration> tolerations = {};
  friend auto operator<=>(const DeviceRequest&, const DeviceRequest&) = default;
};

struct DeviceClass {
  std::string name;
  std::vector<std::string> selectors;
  base::WallTime created{};
  std::string extendedResource = {};  // the name by which pods may request its devices without a claim
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

// The requests of a ResourceClaim, or of a template for them.
struct DeviceRequests {
  struct Counted {
    DeviceRequest request;
    std::int64_t count = 1;
    friend bool operator==(const Counted&, const Counted&) = default;
  };
  std::vector<Counted> counted;
  // The first field that asks for what a count of devices does not describe, and why; empty if there is none.
  std::string unsupported = {};
  friend bool operator==(const DeviceRequests&, const DeviceRequests&) = default;
};

struct ResourceClaimTemplate {
  ObjectKey key;
  DeviceRequests requests;
  friend bool operator==(const ResourceClaimTemplate&, const ResourceClaimTemplate&) = default;
};

struct DeviceName {
  std::string driver;
  std::string pool;
  std::string device;
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

struct ResourceClaim {
  ObjectKey key;
  // The pod that it was made for: its name in the claim's namespace, and its uid. Empty: users made it.
  std::string pod;
  Uid podUid;
  bool forExtended = false;  // kube-scheduler made it for an extended resource of the pod
  bool allocated = false;
  std::vector<DeviceName> devices = {};  // allocated, without those for administrators
  DeviceRequests requests = {};
  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

// Lists are sorted by key or name.
struct Devices {
  SharedList<ResourceSlice> slices;
  SharedList<DeviceClass> classes;
  SharedList<ResourceClaimTemplate> templates;
  SharedList<ResourceClaim> claims;
};

}  // namespace trainyard::model
