#include "model/membership.h"

#include "model/gang_size.h"

namespace trainyard::model {

bool readsMembership(const JobSpec& spec) {
  if (!spec.elastic) return false;
  if (traitsOf(spec.framework).discoversHosts) return true;
  return spec.checkpoint && (spec.checkpoint->mode == CheckpointMode::kHelper ||
                             spec.checkpoint->mode == CheckpointMode::kLauncher);
}

std::optional<Membership> membershipOf(const Job& job) {
  if (!readsMembership(job.spec)) return std::nullopt;
  const Role* role = job.spec.findRole(job.spec.elastic->role);
  if (role == nullptr) return std::nullopt;
  return Membership{job.status.gang.lastEpoch, role->name, gangMembers(job, *role)};
}

}  // namespace trainyard::model
