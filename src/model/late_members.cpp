#include "model/late_members.h"

#include <algorithm>

#include "model/gang_size.h"
#include "model/membership.h"

namespace trainyard::model {

bool mayStartIncomplete(const JobSpec& spec) { return spec.elastic && spec.minAvailable; }

// Never fewer than exist: a user may have reduced the number since.
int announcedMembers(const Job& job, const Role& role) {
  const int there = gangMembers(job, role);
  const bool whole = mayStartIncomplete(job.spec) && !readsMembership(job.spec);
  return whole ? std::max(there, job.spec.startReplicas(role)) : there;
}

int announcedMembers(const Job& job) {
  int members = 0;
  for (const Role& role : job.spec.roles) members += announcedMembers(job, role);
  return members;
}

}  // namespace trainyard::model
