#include "codec/volume.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "codec/decode_object.h"
#include "codec/pod_shape.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";

// The kinds of volumes that any number of nodes can use at once.
constexpr std::array<std::string_view, 6> kSharedBackends{"nfs",       "cephfs",  "glusterfs",
                                                          "azureFile", "quobyte", "flocker"};

model::AccessModes readAccessModes(const Field& list) {
  model::AccessModes modes;
  list.forEachElement([&](const Field& mode) {
    const std::string_view name = mode.text();
    modes.once = modes.once || name == "ReadWriteOnce";
    modes.many = modes.many || name == "ReadWriteMany" || name == "ReadOnlyMany";
    modes.oncePod = modes.oncePod || name == "ReadWriteOncePod";
  });
  return modes;
}

model::VolumeClaim readVolumeClaim(const Field& root) {
  const Field meta = root["metadata"];
  const Field spec = root["spec"];
  model::VolumeClaim claim;
  claim.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  claim.deleting = meta["deletionTimestamp"].present();
  claim.volume = spec["volumeName"].text();
  claim.storageClass = spec["storageClassName"].text();
  claim.bound = root["status"]["phase"].text() == "Bound";
  claim.modes = readAccessModes(spec["accessModes"]);
  claim.bytes = spec["resources"]["requests"]["storage"].quantity().unitsRoundedUp();
  claim.selectedNode = model::NodeName(meta["annotations"].value().find(kSelectedNode).string().value_or(""));
  return claim;
}

model::Volume readVolume(const Field& root) {
  const Field spec = root["spec"];
  model::Volume volume;
  volume.name = root["metadata"]["name"].required();
  if (const Field required = spec["nodeAffinity"]["required"]; required.present())
    volume.affinity = readNodeSelectorTerms(required["nodeSelectorTerms"]);
  volume.storageClass = spec["storageClassName"].text();
  volume.modes = readAccessModes(spec["accessModes"]);
  volume.bytes = spec["capacity"]["storage"].quantity().unitsRoundedDown();
  volume.available = root["status"]["phase"].text() == "Available" && !spec["claimRef"].present();
  volume.driver = spec["csi"]["driver"].text();
  volume.sharedBackend = std::any_of(kSharedBackends.begin(), kSharedBackends.end(),
                                     [&](std::string_view kind) { return spec[kind].present(); });
  return volume;
}

// All keys of one topology must match, each by one of its values.
std::vector<model::NodeSelectorTerm> readTopologies(const Field& list) {
  std::vector<model::NodeSelectorTerm> terms;
  list.forEachElement([&](const Field& topology) {
    model::NodeSelectorTerm& term = terms.emplace_back();
    topology["matchLabelExpressions"].forEachElement([&](const Field& each) {
      model::SelectorRequirement requirement{each["key"].string(), model::SelectorOperator::kIn, {}};
      each["values"].forEachElement(
          [&](const Field& value) { requirement.values.push_back(value.string()); });
      term.labels.push_back(std::move(requirement));
    });
  });
  return terms;
}

model::StorageClass readStorageClass(const Field& root) {
  model::StorageClass storageClass;
  storageClass.name = root["metadata"]["name"].required();
  storageClass.waitsForConsumer = root["volumeBindingMode"].text() == "WaitForFirstConsumer";
  storageClass.provisioner = root["provisioner"].text();
  storageClass.isDefault = root["metadata"]["annotations"].value().find(kDefaultClass).string() == "true";
  if (auto terms = readTopologies(root["allowedTopologies"]); !terms.empty())
    storageClass.topologies = std::move(terms);
  return storageClass;
}

model::CsiDriver readCsiDriver(const Field& root) {
  return {std::string(root["metadata"]["name"].required()), root["spec"]["attachRequired"].boolean(true)};
}

model::CsiNode readCsiNode(const Field& root) {
  model::CsiNode node;
  node.node = model::NodeName(root["metadata"]["name"].required());
  root["spec"]["drivers"].forEachElement([&](const Field& driver) {
    const Field count = driver["allocatable"]["count"];
    if (count.present()) node.limits.emplace_back(driver["name"].string(), count.integer(0, 0, INT64_MAX));
  });
  std::sort(node.limits.begin(), node.limits.end());
  return node;
}

}  // namespace

base::Result<model::VolumeClaim> decodeVolumeClaim(std::string_view json) {
  return decodeObject("persistent volume claim", json, readVolumeClaim, base::OutOfRange::kSaturate);
}

base::Result<model::Volume> decodeVolume(std::string_view json) {
  return decodeObject("persistent volume", json, readVolume, base::OutOfRange::kSaturate);
}

base::Result<model::StorageClass> decodeStorageClass(std::string_view json) {
  return decodeObject("storage class", json, readStorageClass, base::OutOfRange::kSaturate);
}

base::Result<model::CsiDriver> decodeCsiDriver(std::string_view json) {
  return decodeObject("CSI driver", json, readCsiDriver, base::OutOfRange::kSaturate);
}

base::Result<model::CsiNode> decodeCsiNode(std::string_view json) {
  return decodeObject("CSI node", json, readCsiNode, base::OutOfRange::kSaturate);
}

}  // namespace trainyard::codec
