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
  kWait,   // a proposal that must yield to ours still holds a place
  kAbort,  // a place is lost
};

struct BarrierResult {
  BarrierVerdict verdict = BarrierVerdict::kPass;
  std::string reason = {};
  // The nodes that another plan would choose again: all that abort but those that lack capacity for the
  // templates.
  std::vector<model::NodeName> lostNodes = {};
};

// The last check before anything runs: every assigned node is still there, ready and open to the member, and
// has room for the pods as they were *created*: LimitRange, sidecars and overhead may have grown them since
// the plan.
//
// Two proposals on one place: the higher term wins (a later leader knew more), then the smaller job uid. The
// winner waits until the loser is gone, so that neither runs on room that is not there.
//
// `leaving`: what victims of the proposal still hold, by node; the check is then what it will be without
// them.
struct LeavingRoom {
  std::map<model::NodeName, model::Resources> pods;
  // Of their gangs, places without a pod. The ledger counts these beside the proposal's own.
  std::map<model::NodeName, model::Resources> places;
};
[[nodiscard]] BarrierResult checkBarrier(const model::Job& job, const std::vector<Member>& members,
                                         const Ledger& ledger, const model::SharedList<model::Job>& jobs,
                                         const LeavingRoom& leaving = {});

}  // namespace trainyard::core
