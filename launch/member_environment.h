#pragma once

#include <map>
#include <optional>
#include <string>

#include "launch/membership.h"

namespace trainyard::launch {

using Environment = std::map<std::string, std::string>;

[[nodiscard]] Environment ownEnvironment();

// What the operator told this member of itself at its birth.
struct Member {
  std::string role;
  int index = 0;
  std::optional<int> rank;         // absent: it computes apart from the others
  int groupSize = 0;               // at its birth
  int replicas = 0;                // of its role, at its birth
  std::optional<int> elasticSize;  // of the role whose size varies, at its birth; absent: nobody says
};
[[nodiscard]] Member memberOf(const Environment& environment);

[[nodiscard]] bool belongs(const Member& member, const Membership& now);

// The variables of the user's process at the size that is now: what the operator gives to frameworks
// (docs/frameworks.md), for the ranks 0 to size - 1. `born` is the membership that the others were derived
// from. A variable that the template set itself, to something else, stays. Ports are those of the generation,
// so that a process of the last one that lingers meets nobody.
[[nodiscard]] Environment environmentAt(const Environment& own, const Membership& born,
                                        const Membership& now);

}  // namespace trainyard::launch
