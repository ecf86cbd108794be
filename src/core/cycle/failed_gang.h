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

// What becomes of a placed gang of which members ended with an error, once it is known what of.
struct FailedGang {
  model::GangRecord record;               // as it was where the job ends
  std::vector<model::Assignment> places;  // of a restart that begins at once
  StatusNews news;
  JobEvent event;
};

// Assumes `verdict` is kFailed. Steps:
//  1 rule     of the user's, for the root member, else for the first failed one that any matches
//  2 follow   core/lifecycle/follow_up.h: the end, or a restart with or without a pause. Earlier restarts for
//             the same class of the infrastructure's are forgotten where this start ran for an hour and kept
//             its work: a checkpoint was written in it, where the job reports them, else it declares some
//  3 record   without a pause the gang (or, with scope Pod, what failed) starts anew on places planned now,
//             its own if they serve; with one it gives its places back and waits as others do. With scope
//             Pod the others run on through the pause: replaceAfterPause()
// `mayStartAnew`: its queue would take it as it is now; else it waits to be admitted.
[[nodiscard]] FailedGang followFailure(const model::Job& job, const std::vector<Member>& members,
                                       const Verdict& verdict, const Failure& failure, bool mayStartAnew,
                                       const Ground& ground, const Author& author);

// Assumes `verdict` is kLost. Steps:
//  1 rule     of the user's, by conditions alone, for the first lost member that any matches; it may end the
//  job
//             or count the restart. Without a rule the restart does not count
//  2 pause    the first loss has none; the n-th in a row, each within kLastingRun of the failure or loss
//  before
//             it, waits Settings::backoffBase * 2^(n-2), at most backoffMax
//  3 record   as in followFailure(); nodes that ended or refused a member come last. A loss whose replacement
//             was given up before, or has waited for its pause, is neither counted nor paused again
[[nodiscard]] FailedGang followLoss(const model::Job& job, const std::vector<Member>& members,
                                    const Verdict& verdict, bool mayStartAnew, const Ground& ground,
                                    const Author& author);

// Whether its members that failed wait for the end of a pause, or have waited, while the others run on: the
// failure has been told and counted.
[[nodiscard]] bool pausesInPlace(const model::Job& job);

// They start anew, once the pause is over.
[[nodiscard]] FailedGang replaceAfterPause(const model::Job& job, const std::vector<Member>& members,
                                           const Verdict& verdict, bool mayStartAnew, const Ground& ground,
                                           const Author& author);

// What becomes of a gang that runs and has been silent since then, where it asks to be restarted for that: as
// of one that failed, of class Stalled. The whole gang starts anew, whatever its scope: nobody can tell which
// member the others wait for.
[[nodiscard]] FailedGang followStall(const model::Job& job, const std::vector<Member>& members,
                                     base::WallTime silentSince, bool mayStartAnew, const Ground& ground,
                                     const Author& author);

// "no report and no new line in a log since …, for longer than spec.health.stallSeconds (600)".
[[nodiscard]] std::string silenceText(const model::Job& job, base::WallTime silentSince);

// When a job that runs now comes to spec.run.activeDeadlineSeconds; nothing without one.
[[nodiscard]] std::optional<base::WallTime> deadlineOf(const model::Job& job, base::WallTime now);

// Where the check of a node (spec.health.preflight) ended with an error: of what class the gang failed, and
// where. No log is needed to know that.
[[nodiscard]] std::optional<Failure> failedPreflight(const Verdict& verdict);

// That it has come there.
[[nodiscard]] FailedGang endAtDeadline(const model::Job& job, base::WallTime now);

}  // namespace trainyard::core
