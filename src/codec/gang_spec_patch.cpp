#include "codec/gang_spec_patch.h"

#include <tuple>
#include <utility>

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

bool sameGangSpec(const model::JobSpec& a, const model::JobSpec& b, GangSpecParts parts) {
  if (parts == GangSpecParts::kRoles) return a.templateHash == b.templateHash;
  // The hash is that of names, numbers and templates of the roles.
  const auto fields = [](const model::JobSpec& spec) {
    return std::tie(spec.templateHash, spec.queue, spec.priorityClassName, spec.preemptible,
                    spec.locality.required, spec.estimatedDuration);
  };
  return fields(a) == fields(b);
}

base::Result<std::string> encodeGangSpecPatch(std::string_view gang, std::string_view resourceVersion,
                                              GangSpecParts parts) {
  const auto document = JsonDocument::parse(gang);
  if (!document) return base::fail(document.error());
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("resourceVersion", resourceVersion).endObject();
  const JsonValue spec = document->root().find("spec");
  out.key("spec");
  if (parts == GangSpecParts::kAll) {
    out.raw(spec.minified());
  } else {
    out.beginObject().key("roles").raw(spec.find("roles").minified()).endObject();
  }
  out.endObject();
  return std::move(out).take();
}

std::string encodeDisowned(const model::Uid& uid, std::string_view resourceVersion) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("uid", uid.str());
  out.member("resourceVersion", resourceVersion).endObject();
  out.key("spec").beginObject().key("owner").beginObject();
  out.member("apiVersion", "v1").member("kind", "Pod");
  out.key("name").null().key("uid").null();
  out.endObject().endObject().endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
