#include "codec/suspend_patch.h"

#include <utility>

#include "codec/json_writer.h"

namespace trainyard::codec {

std::string encodeSuspendPatch(const model::Uid& uid, std::string_view path, bool suspend) {
  JsonWriter out;
  out.beginObject().key("metadata").beginObject().member("uid", uid.str()).endObject();
  int depth = 0;
  for (std::string_view rest = path; !rest.empty(); ++depth) {
    const std::size_t dot = rest.find('.');
    out.key(rest.substr(0, dot)).beginObject();
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  out.memberBool("suspend", suspend);
  for (; depth > 0; --depth) out.endObject();
  out.endObject();
  return std::move(out).take();
}

}  // namespace trainyard::codec
