#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "core/lifecycle/member_verdict.h"
#include "model/failure_rule.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// The member for which the others waited in a collective operation that timed out.
struct Laggard {
  std::size_t member = 0;
  model::Confidence confidence = model::Confidence::kHigh;
  std::string
      note;  // what shows it: "worker-2 is behind: it enqueued 41 collective operations, the others 57"
};

// Every member that waits reports the time-out, so who reports it first shows nothing. In this order:
//  1. the rank that the logs name: that failed to pass a monitored barrier, or did not join a collective
//  2. the one member that has enqueued fewer operations of the same process group than all others (PyTorch:
//     `last enqueued NCCL work`), or whose operation has the least sequence number (`SeqNum=`)
//  3. the one member that reports no time-out, as it waited in none
// Nothing where several members are alike.
[[nodiscard]] std::optional<Laggard> laggingMember(std::span<const model::MemberEvidence> members,
                                                   std::span<const MemberVerdict> verdicts,
                                                   const RuleBook& book);

}  // namespace trainyard::core
