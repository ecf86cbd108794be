#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "core/ledger/members.h"
#include "model/job.h"

namespace trainyard::core {

// The size of a placed Gang follows the pods that its owner makes and wants (docs/protocol.md, "Gangs of
// other kinds"): pods beyond its places join, and places without a pod are given up.

// Whether a pod may take the member's place: it has none, or one that failed, which its controller replaces.
[[nodiscard]] bool isOpen(const Member& member);

// Returns false for a pod of a role that the gang does not have, and for one that requests more of an
// extended resource than its role's template.
[[nodiscard]] bool isOfRole(const model::Pod& arrived, const model::JobSpec& spec);

// Returns false also for a pod that is being deleted, that another gate holds, or whose device claims do not
// exist yet.
[[nodiscard]] bool mayTakePlace(const model::Pod& arrived, const model::JobSpec& spec);

// A role with more pods that have arrived than places for them.
struct Surplus {
  const model::Role* role = nullptr;  // of the job
  int places = 0;                     // without those of members that have succeeded
  int pods = 0;                       // at most as many as the owner wants
};

// Such roles, in the order of the spec; none if each pod that has arrived has a place, or may get none.
[[nodiscard]] std::vector<Surplus> surplusOf(const model::Job& job, const JobPods& pods,
                                             const JobPods& arrivals);

// Returns true if none of the members has a pod that runs, and more pods have arrived than there are places:
// their owner has started again from the beginning. (Rejected: letting them join one by one. Each gang would
// hold nodes while it waits for the rest, and two of them could wait for each other.)
[[nodiscard]] bool startsOver(const model::Job& job, const std::vector<Member>& members,
                              const std::vector<Surplus>& surplus);

// The open places that the gang gives up at `now`: those beyond what the owner wants, the last ones first. Of
// bare pods, which no controller makes again, all that are open when some have been for five minutes.
[[nodiscard]] std::vector<Member> abandonedPlaces(const model::Job& job, const std::vector<Member>& members,
                                                  base::WallTime now);

// When time alone lets abandonedPlaces() return more; nothing if never.
[[nodiscard]] std::optional<base::WallTime> abandonedAt(const model::Job& job,
                                                        const std::vector<Member>& members);

// Sets the condition PodsMissing. refusal: why a pod that has arrived stays gated; empty if none does.
void setPodsMissing(const model::Job& job, const std::vector<Member>& members, std::string_view refusal,
                    base::WallTime now, model::JobStatus& status);

}  // namespace trainyard::core
