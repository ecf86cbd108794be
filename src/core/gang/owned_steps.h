#pragma once

#include <string>
#include <vector>

#include "core/gang/barrier.h"
#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/ledger/members.h"

namespace trainyard::core {

// The protocol for a Gang, whose pods other controllers make (docs/protocol.md, "Gangs of other kinds"). Part
// of stepProposal(); placeArrivals(), closedPlaces(), suspendedByOthers() and stopOwned() are for placed
// gangs too.
//
// Places are reserved for the whole gang, and each pod is released to its place as it arrives. (Rejected: to
// wait for all pods, as a TrainingJob does. Many controllers create some pods only after others run:
// mpi-operator its launcher, LeaderWorkerSet its workers, JobSet what dependsOn names.)

// Returns the open ones of the members with a pod that has arrived for them: that of their index, else the
// oldest of their role that has none, or whose index has no place. A member for which none has arrived is
// left out.
[[nodiscard]] std::vector<Member> matchArrivals(const model::Job& job, const std::vector<Member>& members,
                                                const PodGroups& pods);

// Pods that have arrived for their places.
struct Placing {
  std::vector<Action> actions = {};  // release those whose nodes are open to them as they were created
  BarrierResult refused = {};        // why the others stay gated; kPass if none does
};
[[nodiscard]] Placing placeArrivals(const model::Job& job, const std::vector<Member>& members,
                                    const GangContext& context);

// Places that no pod of their role can take: the node is gone, closed or full.
struct ClosedPlaces {
  std::vector<Member> members = {};
  std::string reason = {};  // of the first
};
// Returns those of the open places of a gang that is placed.
[[nodiscard]] ClosedPlaces closedPlaces(const model::Job& job, const std::vector<Member>& members,
                                        const Ledger& ledger, const model::SharedList<model::Job>& jobs);

// The steps of a proposal in phase Reserved.
[[nodiscard]] GangStep stepOwnedReserved(const model::Job& job, const JobPods& pods,
                                         const GangContext& context);

// The reason of an attempt, and of a gang, that ends because another client has suspended the owner.
[[nodiscard]] std::string suspendedByOthers(const model::Owner& owner);

// What ends the pods of a gang that stops as a whole. An owner that can be suspended is, and ends its pods
// itself: a deleted pod would count as a failure of the owner. Only what must be forced is deleted. Of other
// owners, and of a TrainingJob, the removals are returned as they are.
[[nodiscard]] std::vector<Action> stopOwned(const model::Job& job, std::vector<Action> removals);

}  // namespace trainyard::core
