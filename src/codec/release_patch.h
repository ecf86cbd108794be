#pragma once

#include <cstdint>
#include <string>

#include "model/constraints.h"
#include "model/ids.h"

namespace trainyard::codec {

// The strategic merge patch that pins a gated pod to `node` and removes the gate in one write. `shape` is the
// pod's own shape, or its template's if no admission changes pods. The list of required terms is replaced as
// a whole, and Kubernetes allows only narrower terms, so the node is added to each term. A pod of another uid
// is refused (422). The patch is idempotent. It also clears managedFields, which are of little use for these
// pods: keeping them through release, binding and status updates took a quarter of the API server's work for
// the start of a gang.
[[nodiscard]] std::string encodeReleasePatch(const model::Uid& uid, const model::PodShape& shape,
                                             const model::NodeName& node);

// The same for a pod of a Gang, which gets `node` as that member: it also labels the pod, and removes the
// gate for places. It leaves managedFields to the pod's own controller. `gang`: of the labels.
struct MemberPlace {
  model::ObjectKey gang;
  model::Uid gangUid;
  std::string role;
  int index = 0;
  std::int64_t epoch = 0;
  model::NodeName node;
};
[[nodiscard]] std::string encodePlacePatch(const model::Uid& uid, const model::PodShape& shape,
                                           const MemberPlace& place);

}  // namespace trainyard::codec
