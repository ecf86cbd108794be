#pragma once

#include <string>
#include <vector>

#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/gang/lost_node.h"
#include "core/ledger/members.h"

namespace trainyard::core {

// Steps that several phases of the protocol take. Part of stepProposal(); not for use elsewhere.

// Why the attempt must end now, while no member is released; empty if it may go on.
[[nodiscard]] std::string reasonToStopBeforeRelease(const model::Job& job, const JobFeedback& feedback);

[[nodiscard]] GangStep abortAttempt(const model::Job& job, const LostNode& lost, const GangContext& context);

[[nodiscard]] GangStep commit(model::GangRecord record);
[[nodiscard]] GangStep awaitRemoval(Removal& removal);
// Creates the members that have no pod, after what they need.
[[nodiscard]] GangStep createMissing(const model::Job& job, const std::vector<Member>& members,
                                     const GangContext& context);

}  // namespace trainyard::core
