#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "core/lifecycle/member_verdict.h"
#include "model/failure_rule.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// The member that the others waited for in a collective operation that timed out.
struct Laggard {
  std::size_t member = 0;
  model::Confidence confidence = model::Confidence::kHigh;
  std::string
      note;  // the evidence: "worker-2 is behind: it enqueued 41 collective operations, the others 57"
};

// Every waiting member reports the time-out, so the first report proves nothing. The evidence, in this order:
//  1. the rank that the logs name: it failed to pass a monitored barrier, or did not join a collective
//  2. the one member that has enqueued fewer operations of the same process group than all others (PyTorch:
//     `last enqueued NCCL work`), or with an operation of the least sequence number (`SeqNum=`)
//  3. the one member that reports no time-out, because it waited in no collective
// Returns nullopt if several members fit equally.
[[nodiscard]] std::optional<Laggard> laggingMember(std::span<const model::MemberEvidence> members,
                                                   std::span<const MemberVerdict> verdicts,
                                                   const RuleBook& book);

}  // namespace trainyard::core
