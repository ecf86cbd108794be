#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "core/lifecycle/rule_book.h"
#include "model/member_evidence.h"

namespace trainyard::core {

// What one member by itself seems to have failed of.
struct MemberVerdict {
  // Lost: its pod or one of its containers ended badly or cannot start. Alive: it runs or waits for its turn.
  enum class State { kLost, kAlive, kEndedWell };
  State state = State::kAlive;
  int rule = -1;  // number of the rule; -1: nothing tells
  model::Sign sign = model::Sign::kEnd;
  bool fromLog = false;
  std::string line = {};
  std::optional<base::WallTime> endedAt = std::nullopt;  // when its first container failed
};

// The most telling of the member's signs: facts of Kubernetes first, then a cause, then what follows from
// others' ends; of one kind the more specific, and of equals the last, as what ended a program stands at the
// end.
[[nodiscard]] MemberVerdict judgeMember(const model::MemberEvidence& member, const BookReading& book);

}  // namespace trainyard::core
