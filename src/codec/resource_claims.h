#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace trainyard::codec {

// A ResourceClaim (of DRA) that pods of a role name, or a template from which each pod gets its own claim.
struct ResourceClaimName {
  std::string role;
  bool isTemplate = false;
  std::string name;
  friend bool operator==(const ResourceClaimName&, const ResourceClaimName&) = default;
};

// The claims of the job's templates, each once.
[[nodiscard]] std::vector<ResourceClaimName> resourceClaimsOf(const model::Job& job);

}  // namespace trainyard::codec
