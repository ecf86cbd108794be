#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// Translates spec.gang.minAvailable of a decoded spec: its largest role (the last of equal ones) becomes an
// elastic role that only grows, up to the requested size (model/late_members.h). With spec.elastic, it raises
// the minimum of that role if it is larger. Afterwards minAvailable is set only if the gang may start without
// its last members. It is unset if all members are required, or if the operator plans the size of the gang.
// Returns why the gang cannot have so small a minimum, and what is done instead; empty if the spec is
// honoured.
[[nodiscard]] std::string readLateMembers(model::JobSpec& spec);

}  // namespace trainyard::codec
