#include "codec/namespace.h"

#include "codec/decode_object.h"
#include "codec/pod_shape.h"

namespace trainyard::codec {
namespace {

model::Namespace readNamespace(const Field& root) {
  const Field meta = root["metadata"];
  return {.name = std::string(meta["name"].required()),
          .uid = model::Uid(meta["uid"].text()),
          .labels = readLabels(meta["labels"])};
}

}  // namespace

base::Result<model::Namespace> decodeNamespace(std::string_view json) {
  return decodeObject("namespace", json, readNamespace);
}

}  // namespace trainyard::codec
