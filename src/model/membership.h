#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// A pod's annotation with one line of JSON, `{"generation":3,"role":"worker","size":4}`, which the kubelet
// mounts for the member as a file.
inline constexpr std::string_view kMembershipAnnotation = "trainyard.dev/membership";

// The members of a job with a variable size: 0 to size - 1 of the role, and all of the other roles. A later
// membership has a larger generation.
struct Membership {
  std::int64_t generation = 0;
  std::string role;
  int size = 0;
  friend bool operator==(const Membership&, const Membership&) = default;
};

// Returns true if the job's members read it: the helper, the launcher and Horovod's host discovery do.
[[nodiscard]] bool readsMembership(const JobSpec& spec);

// Returns the membership by the job's record, with the change that is under way merged; nullopt if its
// members do not read it.
[[nodiscard]] std::optional<Membership> membershipOf(const Job& job);

}  // namespace trainyard::model
