#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gang/action.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/lost_members.h"
#include "core/gang/outcome.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/status/job_status.h"

namespace trainyard::core {

// What follows for a placed gang after it failed, lost members, stalled or reached its deadline.
struct FailedGang {
  model::GangRecord record;                    // unchanged if the job ends
  std::vector<model::Assignment> assignments;  // assigned nodes of a restart that begins at once
  StatusUpdate update;
  JobEvent event;
};

// Assumes `verdict` is kFailed. Steps:
//  1 rule     the user's rule for the root member, else for the first failed member that any rule matches
//  2 follow   core/lifecycle/follow_up.h decides: the end, or a restart with or without a pause. Earlier
//             restarts for the same infrastructure class are forgotten if this start ran for an hour and kept
//             its work. It did if the job declares checkpoints and, where it reports them, wrote one
//  3 record   without a pause the gang (with scope Pod: its failed members) restarts on a placement planned
//             now, its own if that serves. With a pause it gives its nodes back and is pending again. With
//             scope Pod the other members run on through the pause: replaceAfterPause()
// `mayRestart`: the queue would admit the gang as it is now; else the gang waits to be admitted.
[[nodiscard]] FailedGang followFailure(const model::Job& job, const std::vector<Member>& members,
                                       const Verdict& verdict, const Failure& failure, bool mayRestart,
                                       const PlacementScope& placementScope, const Author& author);

// Assumes `verdict` is kLost. Steps:
//  1 rule     the user's rule, by conditions alone, for the first lost member that any rule matches. The
//             rule may end the job or count the restart. Without a rule the restart does not count
//  2 pause    the first loss has no pause. The n-th loss in a row waits Settings::backoffBase * 2^(n-2),
//             at most backoffMax. Losses are in a row if each is within kLastingRun of the failure or
//             loss before it
//  3 record   as in followFailure(); nodes that ended or refused a member come last. A loss is neither
//             counted nor paused again if its replacement was given up before or has waited for its
//             pause
[[nodiscard]] FailedGang followLoss(const model::Job& job, const std::vector<Member>& members,
                                    const Verdict& verdict, bool mayRestart,
                                    const PlacementScope& placementScope, const Author& author);

// Returns true if failed members wait for the end of a pause, or have waited for it, while the others run on.
// The failure has been reported and counted already.
[[nodiscard]] bool pausesInPlace(const model::Job& job);

// Restarts the failed members, once the pause is over.
[[nodiscard]] FailedGang replaceAfterPause(const model::Job& job, const std::vector<Member>& members,
                                           const Verdict& verdict, bool mayRestart,
                                           const PlacementScope& placementScope, const Author& author);

// What follows for a running gang that has been silent since `silentSince` and asks to be restarted for that.
// It is treated as a failure of class Stalled. The whole gang restarts, whatever its scope, because it is
// unknown which member the others wait for.
[[nodiscard]] FailedGang followStall(const model::Job& job, const std::vector<Member>& members,
                                     base::WallTime silentSince, bool mayRestart,
                                     const PlacementScope& placementScope, const Author& author);

// "no progress report and no new log line since …, for longer than spec.health.stallSeconds (600)".
[[nodiscard]] std::string silenceText(const model::Job& job, base::WallTime silentSince);

// When a running job reaches spec.run.activeDeadlineSeconds; nothing without that field.
[[nodiscard]] std::optional<base::WallTime> deadlineOf(const model::Job& job, base::WallTime now);

// If a node's check (spec.health.preflight) ended with an error, returns the failure class and the node. No
// log is needed for that.
[[nodiscard]] std::optional<Failure> failedPreflight(const Verdict& verdict);

// What follows for a job that has reached its deadline.
[[nodiscard]] FailedGang endAtDeadline(const model::Job& job, base::WallTime now);

}  // namespace trainyard::core
