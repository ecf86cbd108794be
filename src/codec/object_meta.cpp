#include "codec/object_meta.h"

#include <fmt/format.h>

#include "codec/json_value.h"

namespace trainyard::codec {
namespace {

tl::unexpected<base::Error> refuse(std::string_view why) {
  return base::fail(base::ErrorCode::kInvalid, fmt::format("object: {}", why));
}

std::string text(JsonValue value) { return std::string(value.string().value_or("")); }

void readController(JsonValue meta, ObjectMeta& out) {
  meta.find("ownerReferences").forEachElement([&](JsonValue owner) {
    if (!out.controllerUid.empty() || !owner.find("controller").boolean().value_or(false)) return;
    out.controllerKind = text(owner.find("kind"));
    out.controllerName = text(owner.find("name"));
    out.controllerUid = text(owner.find("uid"));
  });
}

}  // namespace

base::Result<ObjectMeta> decodeObjectMeta(std::string_view json) {
  const auto document = JsonDocument::parseObject(json);
  if (!document) return refuse(document.error().message);
  const JsonValue meta = document->root().find("metadata");
  if (meta.type() != JsonType::kObject) return refuse("metadata is missing");
  ObjectMeta out{text(meta.find("namespace")), text(meta.find("name")), text(meta.find("uid")),
                 text(meta.find("resourceVersion"))};
  readController(meta, out);
  meta.find("finalizers").forEachElement([&](JsonValue) { out.hasFinalizers = true; });
  if (out.name.empty()) return refuse("metadata.name is missing");
  return out;
}

}  // namespace trainyard::codec
