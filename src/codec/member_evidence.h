#pragma once

#include <string_view>

#include "base/error.h"
#include "codec/field.h"
#include "model/member_evidence.h"

namespace trainyard::codec {

// Reads how the pod ended from a PodStatus as Kubernetes writes it. Unknown fields are ignored.
void readPodEnd(const Field& status, model::MemberEvidence& into);

// As readPodEnd(), for a whole v1 Pod with its node and status. The caller sets role, index and log. kInvalid
// names the pod and the field.
[[nodiscard]] base::Result<model::MemberEvidence> decodePodEnd(std::string_view pod);

}  // namespace trainyard::codec
