#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang.h"
#include "core/status/condition_writer.h"
#include "core/status/job_status.h"
#include "core/status/member_tally.h"

namespace trainyard::core {

// The conditions of a job, by what it does. Part of deriveStatus(); not for use elsewhere.

void describeWaiting(ConditionWriter& write, const StatusUpdate& update);
void describeStarting(ConditionWriter& write, const model::Proposal& proposal, const StatusUpdate& update,
                      const std::vector<Member>& members);
void describePlaced(ConditionWriter& write, const StatusUpdate& update, const MemberTally& tally,
                    const std::vector<Member>& members);
// `stuck`: describeStuck(). `pauses`: it waits before its next start.
void describeRestarting(ConditionWriter& write, const model::Proposal& proposal, const StatusUpdate& update,
                        const std::string& stuck, const std::optional<Resize>& resize, bool pauses);
void describeEnd(ConditionWriter& write, const Verdict& verdict);
// Ready and Stalled, which follow from the rest of the status.
void describeReady(ConditionWriter& write, const model::JobStatus& status, const StatusUpdate& update,
                   bool runs);

[[nodiscard]] bool isRestarting(const model::GangRecord& gang);
// "; pod bert-worker-1 on node n3 does not terminate": the first pod that outlives its grace period; else
// empty.
[[nodiscard]] std::string describeStuck(const std::vector<Member>& members, base::WallTime now);

}  // namespace trainyard::core
