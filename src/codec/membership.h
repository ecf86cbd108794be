#pragma once

#include <string>

#include "model/ids.h"
#include "model/membership.h"

namespace trainyard::codec {

// The value of the annotation model::kMembershipAnnotation.
[[nodiscard]] std::string encodeMembership(const model::Membership& membership);

// The merge patch that writes it to a pod that exists. A pod of another uid is refused (422). Repeating it
// changes nothing.
[[nodiscard]] std::string encodeMembershipPatch(const model::Uid& uid, const model::Membership& membership);

}  // namespace trainyard::codec
