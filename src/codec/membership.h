#pragma once

#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/membership.h"

namespace trainyard::codec {

// The value of the annotation model::kMembershipAnnotation.
[[nodiscard]] std::string encodeMembership(const model::Membership& membership);

// The merge patch that writes it to a pod that exists. A pod of another uid is refused (422), and one that
// has changed since (409): a word that comes late must not overtake a later one.
[[nodiscard]] std::string encodeMembershipPatch(const model::Uid& uid, std::string_view resourceVersion,
                                                const model::Membership& membership);

}  // namespace trainyard::codec
