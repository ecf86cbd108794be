#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::launch {

// Who belongs to the job: of `role` the members 0 to size - 1, and all of the other roles. A later word has a
// larger generation.
struct Membership {
  std::int64_t generation = 0;
  std::string role;
  int size = 0;
  friend bool operator==(const Membership&, const Membership&) = default;
};

// Reads `{"generation":3,"role":"worker","size":4}`, in any order and with other members beside them; nothing
// where one of the three is missing, or no such value.
[[nodiscard]] std::optional<Membership> parseMembership(std::string_view text);
[[nodiscard]] std::optional<Membership> readMembership(const std::string& path);

}  // namespace trainyard::launch
