#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::launch {

// The members of the job: those of `role` with index 0 to size - 1, and all members of other roles. A later
// membership has a larger generation.
struct Membership {
  std::int64_t generation = 0;
  std::string role;
  int size = 0;
  friend bool operator==(const Membership&, const Membership&) = default;
};

// Parses `{"generation":3,"role":"worker","size":4}`, in any order and with other fields beside them. Returns
// nothing if one of the three is missing or invalid.
[[nodiscard]] std::optional<Membership> parseMembership(std::string_view text);
[[nodiscard]] std::optional<Membership> readMembership(const std::string& path);

}  // namespace trainyard::launch
