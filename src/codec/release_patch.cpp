#include "codec/release_patch.h"

#include <utility>

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "codec/managed_fields.h"
#include "codec/pinned_affinity.h"
#include "model/names.h"

namespace trainyard::codec {

namespace {

void writePinnedSpec(const model::PodShape& shape, const model::NodeName& node, std::string_view gate,
                     JsonWriter& out) {
  out.key("spec").beginObject();
  out.key("affinity");
  writePinnedAffinity(shape.affinity, node, out);
  out.key("schedulingGates").beginArray().beginObject();
  out.member("$patch", "delete").member("name", gate);
  out.endObject().endArray().endObject();
}

}  // namespace

std::string encodePlacePatch(const model::Uid& uid, const model::PodShape& shape, const MemberPlace& place) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("uid", uid.str());
  out.key("labels")
      .beginObject()
      .member(model::names::kJobNameLabel, place.gang.name)
      .member(model::names::kJobUidLabel, place.gangUid.str())
      .member(model::names::kRoleLabel, place.role)
      .member(model::names::kIndexLabel, fmt::to_string(place.index))
      .member(model::names::kEpochLabel, fmt::to_string(place.epoch))
      .endObject();
  out.endObject();
  writePinnedSpec(shape, place.node, model::names::kPlaceGate, out);
  out.endObject();
  return std::move(out).take();
}

std::string encodeReleasePatch(const model::Uid& uid, const model::PodShape& shape,
                               const model::NodeName& node) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("uid", uid.str());
  forgetManagedFields(out);
  out.endObject();
  writePinnedSpec(shape, node, model::names::kGangGate, out);
  out.endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
