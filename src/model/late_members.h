#pragma once

#include "model/job.h"

namespace trainyard::model {

// A gang may start without its last members (spec.gang.minAvailable). They join when capacity becomes free,
// and no member leaves during the gang's life. It is handled as an elastic role with the required members as
// minimum (codec/late_members.h). Its programs get the size of the whole gang from the start, and either wait
// for missing members or run without them. (Rejected: the present size. A program that is not made for
// resizes would have to restart with each new member.)
[[nodiscard]] bool mayStartIncomplete(const JobSpec& spec);

// Members of the role, and of all roles, as the gang's programs count them: with the missing ones, unless the
// programs read their membership (model/membership.h).
[[nodiscard]] int announcedMembers(const Job& job, const Role& role);
[[nodiscard]] int announcedMembers(const Job& job);

}  // namespace trainyard::model
