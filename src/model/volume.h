#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/constraints.h"
#include "model/ids.h"
#include "model/shared_list.h"

namespace trainyard::model {

// Projections of what decides where a pod with volumes may run, nothing else.

// A PersistentVolumeClaim.
struct VolumeClaim {
  ObjectKey key;
  std::string volume;        // that it is or is to be bound to; empty: any
  std::string storageClass;  // empty: none
  bool bound = false;
  bool deleting = false;
  friend bool operator==(const VolumeClaim&, const VolumeClaim&) = default;
};

// A PersistentVolume; without terms it can be reached from everywhere.
struct Volume {
  std::string name;
  std::optional<std::vector<NodeSelectorTerm>> affinity;
  friend bool operator==(const Volume&, const Volume&) = default;
};

struct StorageClass {
  std::string name;
  bool waitsForConsumer = false;  // binds when a pod that uses the claim has its node
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

// Each sorted by key.
struct Volumes {
  SharedList<VolumeClaim> claims;
  SharedList<Volume> volumes;
  SharedList<StorageClass> classes;
};

}  // namespace trainyard::model
