#include "core/ledger/volumes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/ledger/node_misfit.h"
#include "model/one_per_node.h"

namespace trainyard::core {
namespace {

using model::EphemeralVolume;
using model::NodeSelectorTerm;
using model::StorageClass;
using model::Volume;
using model::VolumeClaim;
using Terms = std::vector<NodeSelectorTerm>;

// Returns the class of an ephemeral volume; nullptr if it names none or a class that does not exist.
const StorageClass* classOf(const EphemeralVolume& volume, const model::Volumes& volumes) {
  if (volume.storageClass) return volumes.classes.find(*volume.storageClass);
  const auto found = std::find_if(volumes.classes.begin(), volumes.classes.end(),
                                  [](const auto& each) { return each->isDefault; });
  return found == volumes.classes.end() ? nullptr : found->get();
}

// The requirements of a claim on a volume that administrators provide.
struct Wanted {
  const StorageClass* storageClass = nullptr;
  model::AccessModes modes = {};
  std::int64_t bytes = 0;
};

std::vector<const Volume*> availableFor(const Wanted& wanted, const model::Volumes& volumes) {
  std::vector<const Volume*> found;
  for (const auto& volume : volumes.volumes) {
    if (volume->available && volume->storageClass == wanted.storageClass->name &&
        volume->bytes >= wanted.bytes && volume->modes.covers(wanted.modes))
      found.push_back(volume.get());
  }
  return found;
}

// Returns true if the term compares one label with values, as the terms of local volumes do.
bool isLabelIn(const NodeSelectorTerm& term) {
  return term.fields.empty() && term.labels.size() == 1 &&
         term.labels.front().op == model::SelectorOperator::kIn;
}

// Returns terms that match wherever any of the volumes is reachable: thousands of local volumes become one
// list of values. Returns nullopt if one is reachable from everywhere.
std::optional<Terms> anyOf(const std::vector<const Volume*>& volumes) {
  std::map<std::string, std::set<std::string>> values;
  Terms terms;
  for (const Volume* volume : volumes) {
    if (!volume->affinity) return std::nullopt;
    for (const NodeSelectorTerm& term : *volume->affinity) {
      if (isLabelIn(term)) {
        values[term.labels.front().key].insert(term.labels.front().values.begin(),
                                               term.labels.front().values.end());
      } else {
        terms.push_back(term);
      }
    }
  }
  for (auto& [key, known] : values)
    terms.push_back({{{key, model::SelectorOperator::kIn, {known.begin(), known.end()}}}, {}});
  return terms;
}

NodeSelectorTerm only(const model::NodeName& node) {
  return {{}, {{"metadata.name", model::SelectorOperator::kIn, {node.str()}}}};
}

// The number of the volumes that each node reaches.
class VolumesOfNodes {
 public:
  explicit VolumesOfNodes(const std::vector<const Volume*>& volumes) {
    for (const Volume* volume : volumes) {
      const bool local =
          volume->affinity && volume->affinity->size() == 1 && isLabelIn(volume->affinity->front());
      if (!local) {
        others_.push_back(volume);
        continue;
      }
      const model::SelectorRequirement& label = volume->affinity->front().labels.front();
      for (const std::string& value : label.values) ++byLabel_[label.key][value];
    }
  }

  [[nodiscard]] std::int64_t on(const model::Node& node) const {
    std::int64_t count = std::count_if(others_.begin(), others_.end(), [&](const Volume* volume) {
      return !volume->affinity || matchesAny(*volume->affinity, node);
    });
    for (const auto& [key, values] : byLabel_) {
      const std::string* value = node.labels.find(key);
      const auto known = value == nullptr ? values.end() : values.find(*value);
      if (known != values.end()) count += known->second;
    }
    return count;
  }

 private:
  std::map<std::string, std::map<std::string, std::int64_t>> byLabel_;
  std::vector<const Volume*> others_;  // few
};

// "local volume of class nvme, 1073741824 bytes".
std::string resourceOf(const EphemeralVolume& volume, const StorageClass& storageClass) {
  return fmt::format("{}{}, {} bytes", model::kLocalVolumePrefix, storageClass.name, volume.bytes);
}

// The constraints that volumes put on one job.
class Ties {
 public:
  Ties(const model::Job& job, const model::Volumes& volumes) : volumes_(volumes), tied_(job) {
    tied_.volumeProblem.clear();
    for (model::Role& role : tied_.spec.roles) role.shape.volumeAffinity.clear();
  }

  model::Job tie(std::string_view nodeLevel) {
    for (model::Role& role : tied_.spec.roles) {
      for (const std::string& name : role.shape.volumeClaims) {
        complain(role, fmt::format("PersistentVolumeClaim {} ", name), readClaim(name, role.shape));
      }
      for (const EphemeralVolume& each : role.shape.ephemeralVolumes) {
        complain(role, fmt::format("its ephemeral volume {} ", each.name), readEphemeral(each, role.shape));
      }
      closeFullNodes(role);
    }
    if (oneNode_) tied_.spec.locality.required = nodeLevel;
    return std::move(tied_);
  }

 private:
  void complain(const model::Role& role, const std::string& what, const std::string& why) {
    if (why.empty() || !tied_.volumeProblem.empty()) return;
    tied_.volumeProblem = fmt::format("the pods of role {} cannot run: {}{}", role.name, what, why);
  }

  // Adds where the claim's volume is reachable; returns why no pod with it can run, empty if one can.
  std::string readClaim(const std::string& name, model::PodShape& shape) {
    const VolumeClaim* claim = volumes_.claims.find(model::ObjectKey{tied_.key.ns, name});
    if (claim == nullptr) return "does not exist";
    if (claim->deleting) return "is being deleted";
    if (claim->modes.oncePod) {
      if (std::string why = whyNotAlone(*claim); !why.empty()) return why;
    }
    if (!claim->bound) return readUnbound(*claim, shape);
    const Volume* volume = volumes_.volumes.find(claim->volume);
    if (volume == nullptr) return fmt::format("is bound to volume {}, which does not exist", claim->volume);
    if (volume->affinity) shape.volumeAffinity.push_back(*volume->affinity);
    if (volume->modes.oneNode() && attaches(*volume)) keepTogether(*claim, shape);
    return {};
  }

  std::string readUnbound(const VolumeClaim& claim, model::PodShape& shape) {
    if (!claim.volume.empty()) return fmt::format("is not bound to its volume {} yet", claim.volume);
    if (claim.storageClass.empty()) return "is not bound yet, and names no storage class";
    const StorageClass* storageClass = volumes_.classes.find(claim.storageClass);
    if (storageClass == nullptr)
      return fmt::format("is not bound, and there is no storage class {}", claim.storageClass);
    if (!storageClass->waitsForConsumer)
      return fmt::format("is not bound yet, and its storage class {} does not wait for a pod",
                         claim.storageClass);
    if (!claim.selectedNode.empty()) shape.volumeAffinity.push_back({only(claim.selectedNode)});
    if (claim.modes.oneNode() && attaches(storageClass->provisioner)) keepTogether(claim, shape);
    return readToBind({storageClass, claim.modes, claim.bytes}, shape);
  }

  // Adds where a volume is possible for a claim that is bound with its pod.
  std::string readToBind(const Wanted& wanted, model::PodShape& shape) {
    const StorageClass& storageClass = *wanted.storageClass;
    if (storageClass.topologies) shape.volumeAffinity.push_back(*storageClass.topologies);
    if (!storageClass.isStatic()) return {};
    const auto available = availableFor(wanted, volumes_);
    if (available.empty())
      return fmt::format("has no volume: none of class {} with {} bytes is available", storageClass.name,
                         wanted.bytes);
    if (auto terms = anyOf(available)) shape.volumeAffinity.push_back(std::move(*terms));
    return {};
  }

  std::string readEphemeral(const EphemeralVolume& volume, model::PodShape& shape) {
    if (volume.storageClass && volume.storageClass->empty()) return {};
    const StorageClass* storageClass = classOf(volume, volumes_);
    if (storageClass == nullptr) {
      return volume.storageClass
                 ? fmt::format("names storage class {}, which does not exist", *volume.storageClass)
                 : "names no storage class, and the cluster has no default one";
    }
    const Wanted wanted{storageClass, {}, volume.bytes};
    if (!storageClass->waitsForConsumer && storageClass->isStatic()) {
      const auto available = availableFor(wanted, volumes_);
      if (!available.empty() && anyOf(available))
        return fmt::format(
            "is bound to any volume of class {} before its pod has a node, and the node may not reach that "
            "volume: the class needs volumeBindingMode WaitForFirstConsumer",
            storageClass->name);
    }
    std::string why = readToBind(wanted, shape);
    if (storageClass->isStatic() && why.empty()) {
      const std::string resource = resourceOf(volume, *storageClass);
      shape.requests.setExtended(resource, shape.requests.extended(resource) + 1);
    }
    return why;
  }

  // Returns why a ReadWriteOncePod claim is not usable.
  std::string whyNotAlone(const VolumeClaim& claim) const {
    const int members = membersNaming(claim);
    if (members > 1)
      return fmt::format("is ReadWriteOncePod: a single pod can use it, and {} of this job name it", members);
    if (const model::ClaimUse* other = useByOthers(claim))
      return fmt::format("is ReadWriteOncePod, and pod {} uses it", other->pod);
    return {};
  }

  [[nodiscard]] int membersNaming(const VolumeClaim& claim) const {
    int members = 0;
    for (const model::Role& role : tied_.spec.roles) {
      const auto& names = role.shape.volumeClaims;
      if (std::find(names.begin(), names.end(), claim.key.name) != names.end())
        members += tied_.spec.startReplicas(role);
    }
    return members;
  }

  [[nodiscard]] const model::ClaimUse* useByOthers(const VolumeClaim& claim) const {
    const auto uses = volumes_.uses.find(claim.key);
    if (uses == volumes_.uses.end()) return nullptr;
    const auto other = std::find_if(uses->second.begin(), uses->second.end(),
                                    [&](const auto& use) { return use.owner != tied_.uid; });
    return other == uses->second.end() ? nullptr : &*other;
  }

  [[nodiscard]] bool attaches(const std::string& driverName) const {
    const model::CsiDriver* driver = volumes_.drivers.find(driverName);
    return driver == nullptr || driver->attaches;
  }
  [[nodiscard]] bool attaches(const Volume& volume) const {
    return !volume.sharedBackend && (volume.driver.empty() || attaches(volume.driver));
  }

  // Handles a volume for one node at a time. Running members of the job keep new members on their node.
  void keepTogether(const VolumeClaim& claim, model::PodShape& shape) {
    const auto uses = volumes_.uses.find(claim.key);
    if (uses != volumes_.uses.end() && !uses->second.empty())
      shape.volumeAffinity.push_back({only(uses->second.front().node)});
    if (membersNaming(claim) > 1) oneNode_ = true;
  }

  // --- limits of CSI drivers

  [[nodiscard]] std::string driverOf(const model::ObjectKey& key) const {
    const VolumeClaim* claim = volumes_.claims.find(key);
    if (claim == nullptr) return {};
    if (claim->bound) {
      const Volume* volume = volumes_.volumes.find(claim->volume);
      return volume == nullptr ? std::string() : volume->driver;
    }
    const StorageClass* storageClass = volumes_.classes.find(claim->storageClass);
    return storageClass == nullptr ? std::string() : storageClass->provisioner;
  }

  // The volumes of each driver that other pods use on a node.
  const std::map<model::NodeName, std::map<std::string, std::int64_t>>& used() {
    if (used_) return *used_;
    used_.emplace();
    for (const auto& [claim, uses] : volumes_.uses) {
      const std::string driver = driverOf(claim);
      if (driver.empty()) continue;
      std::set<model::NodeName> nodes;
      for (const model::ClaimUse& use : uses) {
        if (use.owner != tied_.uid && nodes.insert(use.node).second) ++(*used_)[use.node][driver];
      }
    }
    return *used_;
  }

  [[nodiscard]] bool isOn(const model::ObjectKey& claim, const model::NodeName& node) const {
    const auto uses = volumes_.uses.find(claim);
    return uses != volumes_.uses.end() && std::any_of(uses->second.begin(), uses->second.end(),
                                                      [&](const auto& use) { return use.node == node; });
  }

  void closeFullNodes(model::Role& role) {
    if (volumes_.csiNodes.empty()) return;
    model::PodShape& shape = role.shape;
    std::map<std::string, std::int64_t> own;  // volumes that only this pod uses, by driver
    for (const EphemeralVolume& each : shape.ephemeralVolumes) {
      if (const StorageClass* storageClass = classOf(each, volumes_)) ++own[storageClass->provisioner];
    }
    std::vector<std::pair<model::ObjectKey, std::string>> shared;
    for (const std::string& name : shape.volumeClaims) {
      const model::ObjectKey key{tied_.key.ns, name};
      if (std::string driver = driverOf(key); !driver.empty()) shared.emplace_back(key, std::move(driver));
    }
    if (own.empty() && shared.empty()) return;
    NodeSelectorTerm open;
    for (const auto& csiNode : volumes_.csiNodes) {
      if (isFull(*csiNode, own, shared))
        open.fields.push_back({"metadata.name", model::SelectorOperator::kNotIn, {csiNode->node.str()}});
    }
    if (!open.fields.empty()) shape.volumeAffinity.push_back({std::move(open)});
  }

  bool isFull(const model::CsiNode& csiNode, std::map<std::string, std::int64_t> needs,
              const std::vector<std::pair<model::ObjectKey, std::string>>& shared) {
    for (const auto& [claim, driver] : shared) {
      if (!isOn(claim, csiNode.node)) ++needs[driver];
    }
    for (const auto& [driver, limit] : csiNode.limits) {
      const auto need = needs.find(driver);
      if (need == needs.end() || need->second == 0) continue;
      const auto node = used().find(csiNode.node);
      std::int64_t has = 0;
      if (node != used().end() && node->second.contains(driver)) has = node->second.at(driver);
      if (has + need->second > limit) return true;
    }
    return false;
  }

  const model::Volumes& volumes_;
  model::Job tied_;
  bool oneNode_ = false;
  std::optional<std::map<model::NodeName, std::map<std::string, std::int64_t>>> used_;
};

bool hasVolumes(const model::PodShape& shape) {
  return !shape.volumeClaims.empty() || !shape.ephemeralVolumes.empty();
}

}  // namespace

std::shared_ptr<const model::Job> withVolumes(const std::shared_ptr<const model::Job>& job,
                                              const model::Volumes& volumes, std::string_view nodeLevel) {
  const auto& roles = job->spec.roles;
  if (std::none_of(roles.begin(), roles.end(), [](const auto& each) { return hasVolumes(each.shape); }))
    return job;
  return std::make_shared<const model::Job>(Ties(*job, volumes).tie(nodeLevel));
}

LocalVolumes moreLocalVolumes(const model::Job& job, const model::Volumes& volumes,
                              const model::SharedList<model::Node>& nodes) {
  LocalVolumes more;
  for (const model::Role& role : job.spec.roles) {
    for (const EphemeralVolume& each : role.shape.ephemeralVolumes) {
      const StorageClass* storageClass = classOf(each, volumes);
      if (storageClass == nullptr || !storageClass->isStatic()) continue;
      const VolumesOfNodes available(availableFor({storageClass, {}, each.bytes}, volumes));
      const std::string resource = resourceOf(each, *storageClass);
      for (const auto& node : nodes) {
        if (const std::int64_t here = available.on(*node); here > 1)
          more[node->name].setExtended(resource, here - 1);
      }
    }
  }
  return more;
}

}  // namespace trainyard::core
