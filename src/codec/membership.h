#pragma once

#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/membership.h"

namespace trainyard::codec {

// Encodes the value of the annotation model::kMembershipAnnotation.
[[nodiscard]] std::string encodeMembership(const model::Membership& membership);

// The merge patch that writes the annotation to an existing pod. A pod of another uid is refused (422), and
// so is a changed one (409): a delayed patch must not overwrite a later one.
[[nodiscard]] std::string encodeMembershipPatch(const model::Uid& uid, std::string_view resourceVersion,
                                                const model::Membership& membership);

}  // namespace trainyard::codec
