#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

// What names any Kubernetes object, whatever its type: enough to find it in a cache when the rest of its text
// cannot be used.
struct ObjectMeta {
  std::string ns;  // empty for cluster-scoped objects
  std::string name;
  std::string uid;
  std::string resourceVersion;
  // Of the owner reference with controller: true, empty without one.
  std::string controllerKind = {};
  std::string controllerName = {};
  std::string controllerUid = {};
  // Somebody has still to agree before it can go.
  bool hasFinalizers = false;
};

// kInvalid when it is no JSON object or has no metadata.name.
[[nodiscard]] base::Result<ObjectMeta> decodeObjectMeta(std::string_view json);

}  // namespace trainyard::codec
