#include "codec/release_patch.h"

#include <utility>

#include "codec/json_writer.h"
#include "codec/managed_fields.h"
#include "codec/pinned_affinity.h"
#include "model/names.h"

namespace trainyard::codec {

std::string encodeReleasePatch(const model::Uid& uid, const model::PodShape& shape,
                               const model::NodeName& node) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("uid", uid.str());
  forgetManagedFields(out);
  out.endObject();
  out.key("spec").beginObject();
  out.key("affinity");
  writePinnedAffinity(shape.affinity, node, out);
  out.key("schedulingGates").beginArray().beginObject();
  out.member("$patch", "delete").member("name", model::names::kGangGate);
  out.endObject().endArray().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
