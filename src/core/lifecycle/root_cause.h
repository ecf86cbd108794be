#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/lifecycle/member_verdict.h"

namespace trainyard::core {

// Which member brought the others down, by what each seems to have failed of. Whoever names a cause, before
// whoever names what may come from elsewhere, before whoever only lost somebody, before whoever tells
// nothing: the loudest are many, and often the first to end. Among equals who ended first (whoever never
// started ended before all), then the more specific, then the earlier in the list. Nothing when no member
// failed.
[[nodiscard]] std::optional<std::size_t> rootMember(std::span<const MemberVerdict> verdicts,
                                                    const RuleBook& book);

}  // namespace trainyard::core
