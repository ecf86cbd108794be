#include "codec/checkpoint_hook.h"

#include <string_view>

namespace trainyard::codec {

bool asksOverHttp(const model::JobSpec& spec) {
  return spec.checkpoint && spec.checkpoint->mode == model::CheckpointMode::kHttp;
}

std::string hookComplaint(const model::JobSpec& spec, const JsonValue& first) {
  if (!asksOverHttp(spec) || !first.find("lifecycle").find("preStop").present()) return {};
  return "spec.containers[0].lifecycle.preStop: cannot stand beside checkpoint.mode HTTP, which is such a "
         "hook";
}

void writeLifecycle(JsonWriter& out, const model::JobSpec& spec, const JsonValue& container) {
  out.key("lifecycle").beginObject();
  container.find("lifecycle").forEachMember([&](std::string_view name, JsonValue value) {
    if (name != "preStop" && value.present()) out.key(name).raw(value.minified());
  });
  out.key("preStop").beginObject().key("httpGet").beginObject();
  out.member("port", spec.checkpoint->httpPort).member("path", spec.checkpoint->httpPath);
  out.endObject().endObject().endObject();
}

}  // namespace trainyard::codec
