#include "codec/volume.h"

#include "codec/decode_object.h"
#include "codec/pod_shape.h"

namespace trainyard::codec {
namespace {

model::VolumeClaim readVolumeClaim(const Field& root) {
  const Field meta = root["metadata"];
  const Field spec = root["spec"];
  model::VolumeClaim claim;
  claim.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  claim.deleting = meta["deletionTimestamp"].present();
  claim.volume = spec["volumeName"].text();
  claim.storageClass = spec["storageClassName"].text();
  claim.bound = root["status"]["phase"].text() == "Bound";
  return claim;
}

model::Volume readVolume(const Field& root) {
  model::Volume volume;
  volume.name = root["metadata"]["name"].required();
  if (const Field required = root["spec"]["nodeAffinity"]["required"]; required.present())
    volume.affinity = readNodeSelectorTerms(required["nodeSelectorTerms"]);
  return volume;
}

model::StorageClass readStorageClass(const Field& root) {
  model::StorageClass storageClass;
  storageClass.name = root["metadata"]["name"].required();
  storageClass.waitsForConsumer = root["volumeBindingMode"].text() == "WaitForFirstConsumer";
  return storageClass;
}

}  // namespace

base::Result<model::VolumeClaim> decodeVolumeClaim(std::string_view json) {
  return decodeObject("persistent volume claim", json, readVolumeClaim);
}

base::Result<model::Volume> decodeVolume(std::string_view json) {
  return decodeObject("persistent volume", json, readVolume);
}

base::Result<model::StorageClass> decodeStorageClass(std::string_view json) {
  return decodeObject("storage class", json, readStorageClass);
}

}  // namespace trainyard::codec
