#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "core/lifecycle/rule_book.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// The failure of one member, judged by its own evidence only.
struct MemberVerdict {
  // Lost: its pod or one of its containers failed or cannot start. Alive: it runs or has not yet started.
  enum class State { kLost, kAlive, kEndedWell };
  State state = State::kAlive;
  int rule = -1;  // number of the rule; -1: no rule matches
  model::Sign sign = model::Sign::kEnd;
  bool fromLog = false;
  std::string line = {};
  std::optional<base::WallTime> endedAt = std::nullopt;  // when its first container failed
};

// Returns the strongest sign of the member: facts from Kubernetes first, then a cause, then a consequence of
// other members' ends. Within one kind the more specific sign wins. Between equals the last one wins, because
// the cause of an end stands at the end of the log.
[[nodiscard]] MemberVerdict judgeMember(const model::MemberEvidence& member, const BookReading& book);

}  // namespace trainyard::core
