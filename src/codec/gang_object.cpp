#include "codec/gang_object.h"

#include <memory>
#include <utility>

#include "codec/decode_object.h"
#include "codec/job_metadata.h"
#include "codec/job_size.h"
#include "codec/job_spec.h"
#include "codec/job_status_reader.h"
#include "model/owner_kinds.h"

namespace trainyard::codec {
namespace {

// Whether it is stopped, or has ended, the watch of its kind adds (kube::JobCache).
model::Owner readOwner(const Field& field) {
  if (!field.present()) return {.apiVersion = {}, .kind = "Pod", .name = {}, .uid = {}};
  model::Owner owner{.apiVersion = field["apiVersion"].string(),
                     .kind = field["kind"].string(),
                     .name = field["name"].string(),
                     .uid = model::Uid(field["uid"].text())};
  const auto* kind = model::findOwnerKind(model::groupOf(owner.apiVersion), owner.kind);
  owner.suspends = kind != nullptr && !kind->suspendIn.empty();
  return owner;
}

model::Gang readGangObject(const Field& root) {
  model::Gang gang;
  readJobMetadata(root["metadata"], gang);
  gang.status = readJobStatus(root["status"]);
  FieldErrors specErrors;
  const Field spec(root.value().find("spec"), specErrors, "spec");
  gang.owner = std::make_shared<const model::Owner>(readOwner(spec["owner"]));
  gang.spec = readGangSpec(spec, gang.key);
  checkJobSize(spec["roles"], gang);
  gang.specError = specErrors.first();
  gang.errorInTemplate = specErrors.firstIn("template");
  return gang;
}

}  // namespace

base::Result<model::Gang> decodeGang(std::string_view json) {
  return decodeObject("gang", json, readGangObject);
}

}  // namespace trainyard::codec
