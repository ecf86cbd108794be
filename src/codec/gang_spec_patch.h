#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/job.h"

namespace trainyard::codec {

// What of a Gang's spec may change: all of it; or, while it is placed, the roles.
enum class GangSpecParts { kAll, kRoles };

// Returns true if these parts of two specs are equal.
[[nodiscard]] bool sameGangSpec(const model::JobSpec& a, const model::JobSpec& b, GangSpecParts parts);

// The merge patch that gives a Gang these parts of the spec of `gang`, the JSON of one to create. Guarded by
// resourceVersion.
[[nodiscard]] base::Result<std::string> encodeGangSpecPatch(std::string_view gang,
                                                            std::string_view resourceVersion,
                                                            GangSpecParts parts);

// The merge patch that makes a Gang, whose owner is gone, one of bare pods. Guarded by uid and
// resourceVersion.
[[nodiscard]] std::string encodeDisowned(const model::Uid& uid, std::string_view resourceVersion);

}  // namespace trainyard::codec
