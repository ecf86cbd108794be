#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::codec {

// The metadata of any Kubernetes object, whatever its type: enough to find it in a cache if the rest of its
// text is unusable.
struct ObjectMeta {
  std::string ns;  // empty for cluster-scoped objects
  std::string name;
  std::string uid;
  std::string resourceVersion;
  // Copied from the owner reference with controller: true; empty if there is none.
  std::string controllerKind = {};
  std::string controllerName = {};
  std::string controllerUid = {};
  // The object stays until its finalizers are removed.
  bool hasFinalizers = false;
};

// kInvalid if the text is not a JSON object or has no metadata.name.
[[nodiscard]] base::Result<ObjectMeta> decodeObjectMeta(std::string_view json);

}  // namespace trainyard::codec
