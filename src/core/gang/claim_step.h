#pragma once

#include "core/gang/gang_protocol.h"

namespace trainyard::core {

// The next step of a proposal that waits for capacity: first that of its own members that leave, then that of
// its victims. Part of stepProposal(); not for use elsewhere.
[[nodiscard]] GangStep stepClaiming(const model::Job& job, const JobPods& pods, const GangContext& context);

}  // namespace trainyard::core
