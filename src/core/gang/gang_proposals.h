#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/gang/settings.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/pod.h"

// How proposals begin and end. Every change of a gang is a proposal
// {take `remove` away, add `add`} with a new epoch.
namespace trainyard::core {

// Context of the operator that writes a proposal.
struct Author {
  std::int64_t term = 0;  // leadership term
  base::WallTime now{};
  const Settings* settings = nullptr;
};

// The pause after `attempt` aborted attempts in a row.
[[nodiscard]] base::WallTime::duration backoffDelay(int attempt, const Settings& settings);

// Until when the gang's back-off lasts; empty if it is over. The longest are kLongestPause after
// a failure and Settings::backoffMax after an attempt. A back-off that ends later was written
// with a clock that was ahead, and counts as over.
[[nodiscard]] std::optional<base::WallTime> backsOffUntil(const model::GangRecord& gang, base::WallTime now);

[[nodiscard]] std::int64_t memberCount(const std::vector<model::Assignment>& assignments);

// Proposes the planned placement. The phase is Claiming if pods have to go first (victims, or own
// pods in `remove` that are replaced), else Reserved.
//   Start:    add = the whole gang
//   Restart:  remove = all that is placed, add = the whole gang again; empty if it has no placement
//   Replace:  remove = some members, add = the same members elsewhere
//   Grow:     add = more members
//   Shrink:   remove = some members
[[nodiscard]] model::GangRecord propose(const model::Job& job, model::ProposalKind kind,
                                        std::vector<model::Assignment> add,
                                        std::vector<model::Assignment> remove,
                                        std::vector<model::Victim> victims, const Author& author);

// A Restart on other nodes, for the claim of `preemptor`. The gang runs on until that claim
// stands (beginMove()) or is gone (withdrawMove()).
[[nodiscard]] model::GangRecord proposeMove(const model::Job& job, std::vector<model::Assignment> add,
                                            const model::ObjectKey& preemptor, const Author& author);
[[nodiscard]] model::GangRecord beginMove(const model::Job& job);
[[nodiscard]] model::GangRecord withdrawMove(const model::Job& job);

// A Restart without a placement, in place of whatever is proposed: the whole gang is preempted. Members that
// the present proposal may have released become part of what is removed. (Rejected: only what was placed.
// Such a member could still be bound after no record named its node, which another gang had got by then.)
[[nodiscard]] model::GangRecord proposeEviction(const model::Job& job, const Author& author);

// The record that the bound pod of a single-pod job represents before it is written: a Start on its node.
[[nodiscard]] model::GangRecord recordOfPod(const model::Job& job, const model::Pod& pod,
                                            const Settings& settings);

// The record of a claim after all victims have gone.
[[nodiscard]] model::GangRecord reserveClaimed(const model::Job& job, base::WallTime now,
                                               const Settings& settings);

// The record with the proposal in phase Aborting. The next plan leaves out the nodes in `avoid` and those of
// earlier failed attempts: otherwise attempts would alternate between two bad placements.
[[nodiscard]] model::GangRecord abortProposal(const model::Job& job, std::string reason,
                                              const std::vector<model::NodeName>& avoid, base::WallTime now,
                                              const Settings& settings, bool isUnbindable = false);

// The record after all of `add` are bound and all of `remove` are gone.
[[nodiscard]] model::GangRecord mergeProposal(const model::Job& job);

// The record after the pods of an aborted proposal are gone. A Restart has deleted the
// old pods before, so nothing is placed afterwards.
[[nodiscard]] model::GangRecord dropProposal(const model::Job& job);

}  // namespace trainyard::core
