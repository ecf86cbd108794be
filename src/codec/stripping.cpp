#include "codec/stripping.h"

#include <algorithm>
#include <array>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "codec/managed_fields.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

namespace names = model::names;

constexpr std::array kOfMembers = {names::kJobNameLabel, names::kJobUidLabel, names::kEpochLabel,
                                   names::kRoleLabel, names::kIndexLabel};

}  // namespace

std::string encodeStrippingPatch(const model::Job& job) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject();
  out.member("uid", job.uid.str());
  out.key("labels").null().key("annotations").null().key("ownerReferences").null();
  if (job.hasReleaseFinalizer) {
    out.key("finalizers").beginArray().string(names::kReleaseFinalizer).endArray();
  } else {
    out.key("finalizers").null();
  }
  forgetManagedFields(out);
  out.endObject().endObject();
  return std::move(out).take();
}

std::string encodeFinalizersPatch(const model::Job& job) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject();
  out.member("uid", job.uid.str());
  out.key("finalizers").null();
  forgetManagedFields(out);
  out.endObject().endObject();
  return std::move(out).take();
}

base::Result<std::string> encodeStrippingPatch(const model::Uid& uid, std::string_view pod) {
  const auto document = JsonDocument::parseObject(pod);
  if (!document) return base::fail(document.error());
  JsonWriter out;
  out.beginObject().key("metadata").beginObject();
  out.member("uid", uid.str());
  out.key("labels").beginObject();
  document->root().find("metadata").find("labels").forEachMember([&](std::string_view name, JsonValue) {
    if (std::find(kOfMembers.begin(), kOfMembers.end(), name) == kOfMembers.end()) out.key(name).null();
  });
  out.endObject().key("annotations").null().key("finalizers").null();
  forgetManagedFields(out);
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
