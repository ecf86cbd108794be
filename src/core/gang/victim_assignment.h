#pragma once

#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The gang that still has the place of a victim, by the records, after the victim is gone or has ended.
//
// Assumes: a member's pod is named after its gang, role and index, so that the gang of a pod that is gone can
// still be found. Of a Gang's pod the claim has recorded the place.
// Steps: find the gang that has, by its record, placed a member of that name on that node. The place is given
// up if a proposal removes the member; not if that waits for a claim to stand (`movesFor`), or is an aborting
// Replace. No gang has it if the member has succeeded, or its pod was created again.
struct VictimAssignment {
  const model::Job* gang = nullptr;  // null: no record has it
  bool givenUp = false;
};
[[nodiscard]] VictimAssignment placeOf(const model::Victim& victim, const model::SharedList<model::Pod>& pods,
                                       const model::SharedList<model::Job>& jobs);

}  // namespace trainyard::core
