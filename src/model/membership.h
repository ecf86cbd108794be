#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// Of a pod: one line of JSON, `{"generation":3,"role":"worker","size":4}`, which the kubelet shows to the
// member as a file.
inline constexpr std::string_view kMembershipAnnotation = "trainyard.dev/membership";

// Who belongs to a job whose size varies: of the role the members 0 to size - 1, and all of the other roles.
// A later word has a larger generation.
struct Membership {
  std::int64_t generation = 0;
  std::string role;
  int size = 0;
  friend bool operator==(const Membership&, const Membership&) = default;
};

// Whether the job's members read their membership: the helper, the launcher and Horovod's host discovery do.
[[nodiscard]] bool readsMembership(const JobSpec& spec);

// What members are told by the job's record, the change that is under way merged; nothing where nobody reads
// it.
[[nodiscard]] std::optional<Membership> membershipOf(const Job& job);

}  // namespace trainyard::model
