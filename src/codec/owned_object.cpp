#include "codec/owned_object.h"

#include "model/names.h"

namespace trainyard::codec {

void writeOwnerReference(JsonWriter& out, const model::Job& job) {
  out.key("ownerReferences")
      .beginArray()
      .beginObject()
      .member("apiVersion", model::names::kApiVersion)
      .member("kind", job.owner == nullptr ? model::names::kTrainingJobKind : model::names::kGangKind)
      .member("name", job.key.name)
      .member("uid", job.uid.str())
      .memberBool("controller", true)
      .memberBool("blockOwnerDeletion", true)
      .endObject()
      .endArray();
}

void writeJobLabels(JsonWriter& out, const model::Job& job) {
  out.member(model::names::kJobNameLabel, job.key.name).member(model::names::kJobUidLabel, job.uid.str());
}

void writeOwnedMetadata(JsonWriter& out, const model::Job& job, std::string_view name) {
  out.key("metadata").beginObject().member("name", name).member("namespace", job.key.ns);
  out.key("labels").beginObject();
  writeJobLabels(out, job);
  out.endObject();
  writeOwnerReference(out, job);
  out.endObject();
}

}  // namespace trainyard::codec
