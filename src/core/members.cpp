#include "core/members.h"

#include <algorithm>

#include "model/names.h"

namespace trainyard::core {
namespace {

bool isMemberOf(const model::Pod& pod, const model::Job& job, std::int64_t epoch) {
  return pod.controllerUid == job.uid && pod.member && pod.member->epoch == epoch;
}

bool recorded(const std::vector<model::Assignment>& assignments, const model::MemberLabels& member) {
  return std::any_of(assignments.begin(), assignments.end(), [&](const model::Assignment& assignment) {
    return assignment.role == member.role && assignment.indices.contains(member.index);
  });
}

}  // namespace

std::vector<Member> matchMembers(const model::Job& job, const std::vector<model::Assignment>& assignments,
                                 std::int64_t epoch, const JobPods& pods) {
  std::unordered_map<std::string_view, const model::Pod*> byName;
  for (const auto& pod : pods) {
    if (isMemberOf(*pod, job, epoch)) byName.emplace(pod->key.name, pod.get());
  }
  std::vector<Member> members;
  for (const model::Assignment& assignment : assignments) {
    for (const int index : assignment.indices.values()) {
      const auto found = byName.find(model::podName(job.key.name, assignment.role, index));
      members.push_back(
          {assignment.role, index, assignment.node, found == byName.end() ? nullptr : found->second});
    }
  }
  return members;
}

std::vector<const model::Pod*> strayPods(const model::Job& job, const JobPods& pods) {
  const model::GangRecord& gang = job.status.gang;
  std::vector<const model::Pod*> strays;
  for (const auto& pod : pods) {
    const bool inPlaced =
        gang.placed && isMemberOf(*pod, job, gang.placed->epoch) && recorded(gang.placed->assignments, *pod->member);
    const bool inProposal =
        gang.proposal && isMemberOf(*pod, job, gang.proposal->epoch) && recorded(gang.proposal->add, *pod->member);
    if (!inPlaced && !inProposal) strays.push_back(pod.get());
  }
  return strays;
}

std::unordered_map<model::Uid, JobPods> groupByJob(const std::vector<std::shared_ptr<const model::Pod>>& pods) {
  std::unordered_map<model::Uid, JobPods> byJob;
  for (const auto& pod : pods) {
    if (pod->controllerKind == model::names::kTrainingJobKind) byJob[pod->controllerUid].push_back(pod);
  }
  return byJob;
}

}  // namespace trainyard::core
