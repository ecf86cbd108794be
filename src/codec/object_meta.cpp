#include "codec/object_meta.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace trainyard::codec {
namespace {

// Far above any real object; deeper ones are refused, not followed.
constexpr std::size_t kMaxDepth = 64;

tl::unexpected<base::Error> refuse(std::string_view why) {
  return base::fail(base::ErrorCode::kInvalid, fmt::format("object: {}", why));
}

std::string text(simdjson::simdjson_result<simdjson::dom::element> value) {
  std::string_view out;
  return value.get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
}

std::string controllerOf(simdjson::dom::object meta) {
  simdjson::dom::array owners;
  if (meta["ownerReferences"].get(owners) != simdjson::SUCCESS) return {};
  for (const simdjson::dom::element owner : owners) {
    bool controller = false;
    if (owner["controller"].get(controller) == simdjson::SUCCESS && controller) return text(owner["uid"]);
  }
  return {};
}

}  // namespace

base::Result<ObjectMeta> decodeObjectMeta(std::string_view json) {
  simdjson::dom::parser parser;
  if (const auto error = parser.allocate(json.size(), kMaxDepth))
    return refuse(simdjson::error_message(error));
  simdjson::dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return refuse(simdjson::error_message(error));
  }
  simdjson::dom::object meta;
  if (root["metadata"].get(meta) != simdjson::SUCCESS) return refuse("metadata is missing");
  ObjectMeta out{text(meta["namespace"]), text(meta["name"]), text(meta["uid"]),
                 text(meta["resourceVersion"]), controllerOf(meta)};
  if (out.name.empty()) return refuse("metadata.name is missing");
  return out;
}

}  // namespace trainyard::codec
