#pragma once

#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Who has the place of a victim that is gone or has ended, by the records.
//
// Assumes: a member's pod is named after its gang, role and index, so that the gang of a pod that is gone can
// still be found.
// Steps: of the gang whose record has placed a member of that name on that node: given up where a proposal
// takes the member away, but for one that waits for a claim to stand (`movesFor`), or that replaces members
// and is given up itself; nobody's where the member has done its work, or its pod was made anew.
struct VictimsPlace {
  const model::Job* gang = nullptr;  // null: no record has it
  bool givenUp = false;
};
[[nodiscard]] VictimsPlace placeOf(const model::Victim& victim, const model::SharedList<model::Pod>& pods,
                                   const model::SharedList<model::Job>& jobs);

}  // namespace trainyard::core
