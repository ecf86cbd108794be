#pragma once

#include <string_view>

#include "base/error.h"
#include "codec/field.h"
#include "model/member_evidence.h"

namespace trainyard::codec {

// What a PodStatus, as Kubernetes writes it, shows of how the pod ended. Unknown fields are left alone.
void readPodEnd(const Field& status, model::MemberEvidence& into);

// The same of a whole v1 Pod: its node, its status. Role, index and log are the caller's. kInvalid names pod
// and field.
[[nodiscard]] base::Result<model::MemberEvidence> decodePodEnd(std::string_view pod);

}  // namespace trainyard::codec
