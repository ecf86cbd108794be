#include "codec/finalizers.h"

#include "codec/json_writer.h"
#include "model/names.h"

namespace trainyard::codec {

std::string encodeFinalizerPatch(const model::Job& job, bool wanted) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject();
  out.member("uid", job.uid.str()).member("resourceVersion", job.resourceVersion);
  out.key("finalizers").beginArray();
  for (const std::string& other : job.otherFinalizers) out.string(other);
  if (wanted) out.string(model::names::kReleaseFinalizer);
  out.endArray().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
