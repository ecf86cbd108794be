#include "model/gang_size.h"

#include <algorithm>
#include <vector>

#include "base/saturating.h"

namespace trainyard::model {
namespace {

// Of the role; of any, without one.
int membersIn(const std::vector<Assignment>& assignments, const Role* role) {
  std::size_t count = 0;
  for (const Assignment& each : assignments) {
    if (role == nullptr || each.role == role->name) count += each.indices.size();
  }
  return static_cast<int>(count);
}

int placedMembers(const GangRecord& record, const Role* role) {
  return record.placed ? membersIn(record.placed->assignments, role) : 0;
}

// As many as core's mergeProposal(), or dropProposal(), leaves in the record.
int heldMembers(const GangRecord& record, const Role* role) {
  if (!record.proposal) return placedMembers(record, role);
  const Proposal& proposal = *record.proposal;
  if (proposal.phase == ProposalPhase::kAborting)
    return proposal.kind == ProposalKind::kRestart ? 0 : placedMembers(record, role);
  const int added = membersIn(proposal.add, role);
  if (proposal.kind == ProposalKind::kStart || proposal.kind == ProposalKind::kRestart) return added;
  return std::max(placedMembers(record, role) - membersIn(proposal.remove, role), 0) + added;
}

template <typename MembersOf>
std::int64_t gpusOf(const JobSpec& spec, MembersOf membersOf) {
  std::int64_t gpus = 0;
  for (const Role& role : spec.roles) {
    gpus = base::saturatingAdd(gpus, base::saturatingMultiply(role.shape.requests.gpus(), membersOf(role)));
  }
  return gpus;
}

}  // namespace

int gangMembers(const JobSpec& spec, const GangRecord& record, const Role& role) {
  return heldMembers(record, nullptr) > 0 ? heldMembers(record, &role) : spec.startReplicas(role);
}

int gangMembers(const Job& job, const Role& role) { return gangMembers(job.spec, job.status.gang, role); }

int gangMembers(const JobSpec& spec, const GangRecord& record) {
  const int held = heldMembers(record, nullptr);
  return held > 0 ? held : spec.totalReplicas();
}

int gangMembers(const Job& job) { return gangMembers(job.spec, job.status.gang); }

std::int64_t gangGpus(const JobSpec& spec, const GangRecord& record) {
  if (heldMembers(record, nullptr) == 0) return desiredGpus(spec);
  return gpusOf(spec, [&](const Role& role) { return heldMembers(record, &role); });
}

std::int64_t desiredGpus(const JobSpec& spec) {
  return gpusOf(spec, [&](const Role& role) { return spec.startReplicas(role); });
}

std::int64_t placedGpus(const JobSpec& spec, const GangRecord& record) {
  return gpusOf(spec, [&](const Role& role) { return placedMembers(record, &role); });
}

}  // namespace trainyard::model
