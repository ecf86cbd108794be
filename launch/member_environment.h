#pragma once

#include <map>
#include <optional>
#include <string>

#include "launch/membership.h"

namespace trainyard::launch {

using Environment = std::map<std::string, std::string>;

[[nodiscard]] Environment ownEnvironment();

// The variables that the operator gave to this member at its birth.
struct Member {
  std::string role;
  int index = 0;
  std::optional<int> rank;         // absent: the member computes independently of the others
  int groupSize = 0;               // at its birth
  int replicas = 0;                // of its role, at its birth
  std::optional<int> elasticSize;  // of the elastic role, at its birth; absent: the variable is not set
};
[[nodiscard]] Member memberOf(const Environment& environment);

[[nodiscard]] bool belongs(const Member& member, const Membership& now);

// Returns the variables of the user's process at the present size: what the operator gives to frameworks
// (docs/frameworks.md), for the ranks 0 to size - 1. `born` is the membership that the variables in `own`
// were derived from. A variable that the template set to another value is kept. Each generation has its own
// ports, so a lingering process of the last generation cannot connect to a new one.
[[nodiscard]] Environment environmentAt(const Environment& own, const Membership& born,
                                        const Membership& now);

}  // namespace trainyard::launch
