#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/lifecycle/member_verdict.h"

namespace trainyard::core {

// Returns the member that brought the others down, by the verdict on each. The order: a member with a named
// cause, one with a sign that another member may have caused, one that only lost a peer, one without any
// sign. The number of reports and their order prove little: many members report a lost peer, and often end
// first. Between equals the first to end wins (a member that never started counts as first), then the more
// specific sign, then the earlier member in the list. Returns nullopt if no member failed.
[[nodiscard]] std::optional<std::size_t> rootMember(std::span<const MemberVerdict> verdicts,
                                                    const RuleBook& book);

}  // namespace trainyard::core
