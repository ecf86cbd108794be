#include "codec/eviction.h"

#include <utility>

#include "codec/json_writer.h"

namespace trainyard::codec {

std::string encodeEviction(const model::ObjectKey& pod, const model::Uid& uid,
                           std::optional<std::chrono::seconds> grace) {
  JsonWriter out;
  out.beginObject().member("apiVersion", "policy/v1").member("kind", "Eviction");
  out.key("metadata").beginObject().member("name", pod.name).member("namespace", pod.ns).endObject();
  out.key("deleteOptions").beginObject();
  if (grace) out.member("gracePeriodSeconds", grace->count());
  out.key("preconditions").beginObject().member("uid", uid.str()).endObject();
  out.endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
