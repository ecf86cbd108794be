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

std::optional<std::string> encodeStatusChange(std::string_view resourceVersion, std::string_view before,
                                              std::string_view after) {
  const auto beforeJson = JsonDocument::parse(before);
  const auto afterJson = JsonDocument::parse(after);
  JsonWriter out;
  out.beginObject();
  out.key("metadata").beginObject().member("resourceVersion", resourceVersion).endObject();
  out.key("status");
  if (beforeJson && afterJson) {
    if (!writeMergePatch(beforeJson->root(), afterJson->root(), out)) return std::nullopt;
  } else {
    out.raw(after);  // too large to compare: written as a whole, and the API server decides
  }
  out.endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
