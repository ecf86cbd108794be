#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/members.h"
#include "model/job.h"

namespace trainyard::core {

enum class BarrierVerdict {
  kPass,   // release now
  kWait,   // a proposal that must yield to ours still holds the node
  kAbort,  // an assigned node is lost
};

struct BarrierResult {
  BarrierVerdict verdict = BarrierVerdict::kPass;
  std::string reason = {};
  // The nodes that the next plan would choose again: all that abort,
  // except those that lack capacity for the templates.
  std::vector<model::NodeName> lostNodes = {};
};

// What victims of a proposal still hold, by node. It counts as free already, because the members are released
// only after the victims have gone.
struct LeavingCapacity {
  std::map<model::NodeName, model::Resources> pods;
  // Places of their gangs that no pod fills. The ledger counts them in addition to the proposal's own.
  std::map<model::NodeName, model::Resources> assigned;
};

// The last check before a member runs: every assigned node still exists, is ready and open to
// the member, and has capacity for the pods as they were *created*. LimitRange, sidecars and
// overhead may have enlarged them since the plan.
//
// Two proposals for one node: the higher term wins (a later leader has newer data), then the smaller job uid.
// The winner waits until the loser is gone, so that neither uses capacity that does not exist.
//
// A member without a pod counts with its template: of a Gang it may be created much later.
[[nodiscard]] BarrierResult checkBarrier(const model::Job& job, const std::vector<Member>& members,
                                         const Ledger& ledger, const model::SharedList<model::Job>& jobs,
                                         const LeavingCapacity& leaving = {});

}  // namespace trainyard::core
