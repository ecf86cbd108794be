#include "codec/preflight_pod.h"

#include "model/preflight.h"

namespace trainyard::codec {

void writePreflightContainer(JsonWriter& out, const JsonValue& first, const model::Preflight& preflight) {
  out.beginObject().member("name", model::kPreflightContainer).member("image", preflight.image);
  if (!preflight.command.empty()) {
    out.key("command").beginArray();
    for (const std::string& word : preflight.command) out.string(word);
    out.endArray();
  }
  for (const std::string_view taken : {"resources", "securityContext"}) {
    if (const JsonValue value = first.find(taken); value.present()) out.key(taken).raw(value.minified());
  }
  out.key("env").beginArray().beginObject().member("name", "TRAINYARD_NODE").key("valueFrom");
  out.beginObject().key("fieldRef").beginObject().member("fieldPath", "spec.nodeName");
  out.endObject().endObject().endObject().endArray().endObject();
}

}  // namespace trainyard::codec
