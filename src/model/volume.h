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

// Projections of the objects that decide where a pod with volumes may run.

// spec.accessModes of a claim or volume.
struct AccessModes {
  bool once = false;     // ReadWriteOnce
  bool many = false;     // ReadWriteMany or ReadOnlyMany
  bool oncePod = false;  // ReadWriteOncePod

  // Returns true for a volume for a single node, as Kubernetes' attach/detach controller decides.
  [[nodiscard]] bool oneNode() const { return (once || oncePod) && !many; }
  [[nodiscard]] bool covers(const AccessModes& wanted) const {
    return (once || !wanted.once) && (many || !wanted.many) && (oncePod || !wanted.oncePod);
  }
  friend bool operator==(const AccessModes&, const AccessModes&) = default;
};

// A PersistentVolumeClaim.
struct VolumeClaim {
  ObjectKey key;
  std::string volume;        // its bound or requested volume; empty: any
  std::string storageClass;  // empty: none
  bool bound = false;
  bool deleting = false;
  AccessModes modes = {};
  std::int64_t bytes = 0;      // requested
  NodeName selectedNode = {};  // the node that kube-scheduler selected for provisioning; empty: none
  friend bool operator==(const VolumeClaim&, const VolumeClaim&) = default;
};

// A PersistentVolume; without terms it is reachable from everywhere.
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
  bool waitsForConsumer = false;  // binds once a pod that uses the claim has a node
  std::string provisioner = {};
  bool isDefault = false;
  // allowedTopologies; absent: it provisions volumes for every node.
  std::optional<std::vector<NodeSelectorTerm>> topologies = std::nullopt;

  // Administrators create its volumes, there is no provisioner: local disks.
  [[nodiscard]] bool isStatic() const { return provisioner == "kubernetes.io/no-provisioner"; }
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

// A CSIDriver.
struct CsiDriver {
  std::string name;
  bool attaches = true;  // its volumes are attached to nodes
  friend bool operator==(const CsiDriver&, const CsiDriver&) = default;
};

// A CSINode: the node's limit of volumes per driver, if there is one. Sorted by driver.
struct CsiNode {
  NodeName node;
  std::vector<std::pair<std::string, std::int64_t>> limits;
  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

// A bound pod that uses a claim.
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
