#include "codec/decode_object.h"

#include <fmt/format.h>

namespace trainyard::codec {

base::Error objectError(std::string_view kind, const JsonValue& object, std::string_view complaint) {
  const JsonValue meta = object.find("metadata");
  const std::string_view ns = meta.find("namespace").string().value_or("");
  const std::string_view name = meta.find("name").string().value_or("");
  std::string message(kind);
  if (!name.empty()) message += ns.empty() ? fmt::format(" {}", name) : fmt::format(" {}/{}", ns, name);
  return base::Error{base::ErrorCode::kInvalid, fmt::format("{}: {}", message, complaint)};
}

}  // namespace trainyard::codec
