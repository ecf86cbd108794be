#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/constraints.h"
#include "model/ids.h"
#include "model/shared_list.h"

namespace trainyard::model {

// Projections of what decides where a pod with volumes may run, nothing else.

// spec.accessModes of a claim or volume.
struct AccessModes {
  bool once = false;     // ReadWriteOnce
  bool many = false;     // ReadWriteMany or ReadOnlyMany
  bool oncePod = false;  // ReadWriteOncePod

  // As Kubernetes' attach/detach controller decides: a volume for a single node.
  [[nodiscard]] bool oneNode() const { return (once || oncePod) && !many; }
  [[nodiscard]] bool covers(const AccessModes& wanted) const {
    return (once || !wanted.once) && (many || !wanted.many) && (oncePod || !wanted.oncePod);
  }
  friend bool operator==(const AccessModes&, const AccessModes&) = default;
};

// A PersistentVolumeClaim.
struct VolumeClaim {
  ObjectKey key;
  std::string volume;        // that it is or is to be bound to; empty: any
  std::string storageClass;  // empty: none
  bool bound = false;
  bool deleting = false;
  AccessModes modes = {};
  std::int64_t bytes = 0;      // requested
  NodeName selectedNode = {};  // for which kube-scheduler has its volume made; empty: none
  friend bool operator==(const VolumeClaim&, const VolumeClaim&) = default;
};

// A PersistentVolume; without terms it can be reached from everywhere.
struct Volume {
  std::string name;
  std::optional<std::vector<NodeSelectorTerm>> affinity;
  std::string storageClass = {};
  AccessModes modes = {};
  std::int64_t bytes = 0;
  bool available = false;      // bound to no claim
  std::string driver = {};     // of CSI; empty: another kind
  bool sharedBackend = false;  // NFS and the like: never attached to a node, whatever its access modes
  friend bool operator==(const Volume&, const Volume&) = default;
};

struct StorageClass {
  std::string name;
  bool waitsForConsumer = false;  // binds when a pod that uses the claim has its node
  std::string provisioner = {};
  bool isDefault = false;
  // allowedTopologies; absent: its volumes are made for every node.
  std::optional<std::vector<NodeSelectorTerm>> topologies = std::nullopt;

  // Its volumes are made by people, not on demand: local disks.
  [[nodiscard]] bool isStatic() const { return provisioner == "kubernetes.io/no-provisioner"; }
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

// A CSIDriver.
struct CsiDriver {
  std::string name;
  bool attaches = true;  // its volumes are attached to nodes
  friend bool operator==(const CsiDriver&, const CsiDriver&) = default;
};

// A CSINode: how many volumes of each driver a node takes, where that is limited. Sorted by driver.
struct CsiNode {
  NodeName node;
  std::vector<std::pair<std::string, std::int64_t>> limits;
  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

// A pod that has its node and uses a claim.
struct ClaimUse {
  ObjectKey pod;
  Uid owner;  // its controller
  NodeName node;
  friend bool operator==(const ClaimUse&, const ClaimUse&) = default;
};

// Lists are sorted by key.
struct Volumes {
  SharedList<VolumeClaim> claims;
  SharedList<Volume> volumes;
  SharedList<StorageClass> classes;
  SharedList<CsiDriver> drivers = {};
  SharedList<CsiNode> csiNodes = {};
  std::map<ObjectKey, std::vector<ClaimUse>> uses = {};  // by claim
};

}  // namespace trainyard::model
