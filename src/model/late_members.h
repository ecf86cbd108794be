#pragma once

#include "model/job.h"

namespace trainyard::model {

// A gang may start without its last members (spec.gang.minAvailable): they come when there is room for them,
// and none leaves while the gang lives. As an elastic role whose least is what has to be there
// (codec/late_members.h); its programs are told of the whole gang from their start, and wait for who is
// missing or go on without, as they are made. (Lost: telling them of those that are there. A program that was
// not made to be resized would have to begin anew with each that comes.)
[[nodiscard]] bool mayStartIncomplete(const JobSpec& spec);

// Members of the role, and of all roles, as the gang's programs count them: those that are to come as well,
// but where the programs read who belongs to them (model/membership.h).
[[nodiscard]] int toldMembers(const Job& job, const Role& role);
[[nodiscard]] int toldMembers(const Job& job);

}  // namespace trainyard::model
