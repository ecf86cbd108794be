#include "codec/merge_patch.h"

namespace trainyard::codec {

bool writeMergePatch(const JsonValue& before, const JsonValue& after, JsonWriter& out) {
  if (before.canonical() == after.canonical()) return false;
  out.beginObject();
  after.forEachMember([&](std::string_view name, JsonValue value) {
    const JsonValue old = before.find(name);
    if (old.canonical() == value.canonical()) return;
    out.key(name);
    if (old.type() == JsonType::kObject && value.type() == JsonType::kObject) {
      static_cast<void>(writeMergePatch(old, value, out));
    } else {
      out.raw(value.minified());
    }
  });
  before.forEachMember([&](std::string_view name, JsonValue) {
    if (after.find(name).type() == JsonType::kMissing) out.key(name).null();
  });
  out.endObject();
  return true;
}

}  // namespace trainyard::codec
