#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/gang/settings.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/pod.h"

// How proposals begin and end. Every change of a gang is one: {take `remove` away, add `add`}, under a fresh
// epoch.
namespace trainyard::core {

// Context of whoever writes a proposal.
struct Author {
  std::int64_t term = 0;  // leadership term
  base::WallTime now{};
  const Settings* settings = nullptr;
};

// The pause after so many attempts in a row that were given up.
[[nodiscard]] base::WallTime::duration backoffDelay(int attempt, const Settings& settings);

// Until when the gang's back-off lasts; empty if it is over. The longest are kLongestPause after a failure
// and Settings::backoffMax after an attempt: one that ends later was written by a clock that was ahead, and
// is over.
[[nodiscard]] std::optional<base::WallTime> backsOffUntil(const model::GangRecord& gang, base::WallTime now);

[[nodiscard]] std::int64_t memberCount(const std::vector<model::Assignment>& assignments);

// A change for the planned places. Starts in Claiming where somebody has to go first (victims, or own pods in
// `remove` that are replaced), else in Reserved.
//   Start:    add = the whole gang
//   Restart:  remove = all that is placed, add = the whole gang anew; empty where no room was found
//   Replace:  remove = some members, add = the same members elsewhere
//   Grow:     add = more members
//   Shrink:   remove = some members
[[nodiscard]] model::GangRecord propose(const model::Job& job, model::ProposalKind kind,
                                        std::vector<model::Assignment> add,
                                        std::vector<model::Assignment> remove,
                                        std::vector<model::Victim> victims, const Author& author);

// A Restart to elsewhere, for the claim of `claimant`: the gang runs on until that claim stands
// (beginMove()), or is gone (withdrawMove()).
[[nodiscard]] model::GangRecord proposeMove(const model::Job& job, std::vector<model::Assignment> add,
                                            const model::ObjectKey& claimant, const Author& author);
[[nodiscard]] model::GangRecord beginMove(const model::Job& job);
[[nodiscard]] model::GangRecord withdrawMove(const model::Job& job);

// The record for which the bound pod of a gang of one stands, before it is written: a Start to where it is.
[[nodiscard]] model::GangRecord recordOfPod(const model::Job& job, const model::Pod& pod,
                                            const Settings& settings);

// The record of a claim that has come true: everybody who had to go is gone.
[[nodiscard]] model::GangRecord reserveClaimed(const model::Job& job, base::WallTime now,
                                               const Settings& settings);

// The record with the proposal turned to Aborting. `avoid` are nodes that the next plan leaves out, besides
// those that failed the attempts before it: else attempts would go to and fro between two bad places.
[[nodiscard]] model::GangRecord abortProposal(const model::Job& job, std::string reason,
                                              const std::vector<model::NodeName>& avoid, base::WallTime now,
                                              const Settings& settings, bool isUnbindable = false);

// The record after all of `add` is bound and all of `remove` is gone.
[[nodiscard]] model::GangRecord mergeProposal(const model::Job& job);

// The record after an aborted proposal's pods are gone. A Restart's old pods went before, so nothing is
// placed then.
[[nodiscard]] model::GangRecord dropProposal(const model::Job& job);

}  // namespace trainyard::core
