#pragma once

#include <vector>

#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/ledger/members.h"

namespace trainyard::core {

// The protocol for a Gang, whose pods other controllers make (docs/protocol.md, "Gangs of other kinds"). Part
// of stepProposal(); not for use elsewhere, but for placeArrivals() and stopOwned().
//
// Places are reserved for the whole gang, and each pod is released to its place as it arrives. (Rejected: to
// wait for all pods, as a TrainingJob does. Many controllers create some pods only after others run:
// mpi-operator its launcher, LeaderWorkerSet its workers, JobSet what dependsOn names.)

// Returns the members, each without a pod that holds its place, with a pod that has arrived for it: by its
// rank, else the oldest of its role. A member for which none has arrived is left out.
[[nodiscard]] std::vector<Member> matchArrivals(const model::Job& job, const std::vector<Member>& members,
                                                const JobPods& arrivals);

// Releases the pods that have arrived for these members, if their nodes are open to them as they were
// created. Otherwise the attempt of the proposal is given up; without a proposal the pods stay gated.
[[nodiscard]] GangStep placeArrivals(const model::Job& job, const std::vector<Member>& members,
                                     const GangContext& context);

// The steps of a proposal in phase Reserved.
[[nodiscard]] GangStep stepOwnedReserved(const model::Job& job, const JobPods& pods,
                                         const GangContext& context);

// What ends the pods of a gang that stops as a whole. An owner that can be suspended is, and ends its pods
// itself: a deleted pod would count as a failure of the owner. Only what must be forced is deleted. Of other
// owners, and of a TrainingJob, the removals are returned as they are.
[[nodiscard]] std::vector<Action> stopOwned(const model::Job& job, std::vector<Action> removals);

}  // namespace trainyard::core
