#include "model/gang_size.h"

#include <algorithm>
#include <vector>

#include "base/saturating.h"

namespace trainyard::model {
namespace {

// The members of the role; of all roles if it is null.
int membersIn(const std::vector<Assignment>& assignments, const std::string* role) {
  std::size_t count = 0;
  for (const Assignment& each : assignments) {
    if (role == nullptr || each.role == *role) count += each.indices.size();
  }
  return static_cast<int>(count);
}

int placedMembers(const GangRecord& record, const std::string* role) {
  return record.placed ? membersIn(record.placed->assignments, role) : 0;
}

// The same number as core's mergeProposal(), or dropProposal(), leaves in the record.
int heldMembers(const GangRecord& record, const std::string* role) {
  if (!record.proposal) return placedMembers(record, role);
  const Proposal& proposal = *record.proposal;
  if (proposal.phase == ProposalPhase::kAborting)
    return proposal.kind == ProposalKind::kRestart ? 0 : placedMembers(record, role);
  const int added = membersIn(proposal.add, role);
  if (proposal.kind == ProposalKind::kStart || proposal.kind == ProposalKind::kRestart) return added;
  return std::max(placedMembers(record, role) - membersIn(proposal.remove, role), 0) + added;
}

// Counts by the charge: the spec may have been edited since the placement.
template <typename MembersOf>
std::int64_t gpusOf(const JobSpec& spec, const GangRecord& record, MembersOf membersOf) {
  std::int64_t gpus = 0;
  const auto add = [&](const std::string& role, const Resources& requests) {
    gpus = base::saturatingAdd(gpus, base::saturatingMultiply(requests.gpus(), membersOf(role)));
  };
  if (record.charge) {
    for (const Charge::Member& member : record.charge->members) add(member.role, member.requests);
  } else {
    for (const Role& role : spec.roles) add(role.name, role.shape.requests);
  }
  return gpus;
}

}  // namespace

int gangMembers(const JobSpec& spec, const GangRecord& record, const Role& role) {
  return heldMembers(record, nullptr) > 0 ? heldMembers(record, &role.name) : spec.startReplicas(role);
}

int gangMembers(const Job& job, const Role& role) { return gangMembers(job.spec, job.status.gang, role); }

int gangMembers(const JobSpec& spec, const GangRecord& record) {
  const int held = heldMembers(record, nullptr);
  return held > 0 ? held : spec.totalReplicas();
}

int gangMembers(const Job& job) { return gangMembers(job.spec, job.status.gang); }

bool isSinglePod(const Job& job) { return job.owner == nullptr && gangMembers(job) == 1; }

std::int64_t gangGpus(const JobSpec& spec, const GangRecord& record) {
  if (heldMembers(record, nullptr) == 0) return desiredGpus(spec);
  return gpusOf(spec, record, [&](const std::string& role) { return heldMembers(record, &role); });
}

std::int64_t desiredGpus(const JobSpec& spec) {
  std::int64_t gpus = 0;
  for (const Role& role : spec.roles) {
    gpus = base::saturatingAdd(
        gpus, base::saturatingMultiply(role.shape.requests.gpus(), spec.startReplicas(role)));
  }
  return gpus;
}

std::int64_t placedGpus(const JobSpec& spec, const GangRecord& record) {
  return gpusOf(spec, record, [&](const std::string& role) { return placedMembers(record, &role); });
}

}  // namespace trainyard::model
