#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace trainyard::codec {

// A ResourceClaim (of DRA) that pods of a role name, or the template that each of them has one made of.
struct ResourceClaimName {
  std::string role;
  bool isTemplate = false;
  std::string name;
  friend bool operator==(const ResourceClaimName&, const ResourceClaimName&) = default;
};

// Those of the job's templates, each once.
[[nodiscard]] std::vector<ResourceClaimName> resourceClaimsOf(const model::Job& job);

}  // namespace trainyard::codec
