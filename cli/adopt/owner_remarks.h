#pragma once

#include <string_view>

#include "cli/adopt/adoption.h"

namespace trainyard::cli {

// Notes what has another effect, or none, once Trainyard starts and stops an object of this kind.
// `pods`: those of its gang.
void noteOwnerRemarks(std::string_view kind, const Json& owner, int pods, Adoption& adoption);

}  // namespace trainyard::cli
