#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// Takes spec.gang.minAvailable of a decoded spec for what it means: its largest role (of equal ones the last)
// becomes an elastic one of a size that only grows, to what was asked for (model/late_members.h). With
// spec.elastic it raises the least of that, where it is more. Afterwards minAvailable is there only where the
// gang may start without its last members: not where all have to be there, and not where the operator plans
// how large it is.
// Returns why less than that can be had, and what is done instead; empty where all is as asked.
[[nodiscard]] std::string readLateMembers(model::JobSpec& spec);

}  // namespace trainyard::codec
