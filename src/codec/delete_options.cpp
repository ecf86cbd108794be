#include "codec/delete_options.h"

#include "codec/json_writer.h"

namespace trainyard::codec {

std::string encode(const DeleteOptions& options) {
  JsonWriter json;
  json.beginObject().member("apiVersion", "v1").member("kind", "DeleteOptions");
  if (options.uid || options.resourceVersion) {
    json.key("preconditions").beginObject();
    if (options.uid) json.member("uid", *options.uid);
    if (options.resourceVersion) json.member("resourceVersion", *options.resourceVersion);
    json.endObject();
  }
  if (options.gracePeriodSeconds) json.member("gracePeriodSeconds", *options.gracePeriodSeconds);
  if (options.propagationPolicy) json.member("propagationPolicy", *options.propagationPolicy);
  json.endObject();
  return std::move(json).take();
}

}  // namespace trainyard::codec
