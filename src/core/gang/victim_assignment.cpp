#include "core/gang/victim_assignment.h"

#include <algorithm>
#include <string_view>

#include "model/managed_by.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Proposal;

const Job* findJob(const model::SharedList<Job>& jobs, const std::string& ns, std::string_view name) {
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), name, [&](const auto& job, const auto& wanted) {
    return job->key.ns != ns ? job->key.ns < ns : job->key.name < wanted;
  });
  const bool found = at != jobs.end() && (*at)->key.ns == ns && (*at)->key.name == name;
  return found ? at->get() : nullptr;
}

bool takesAway(const Proposal& proposal, const std::string& role, int index) {
  const bool isOff =
      proposal.kind == model::ProposalKind::kReplace && proposal.phase == model::ProposalPhase::kAborting;
  return !proposal.movesFor && !isOff && proposal.removes(role, index);
}

// False if the member has succeeded, or if another pod has its name.
bool isMissed(const Job& gang, const std::string& role, int index, const model::Victim& victim,
              const model::SharedList<model::Pod>& pods) {
  const model::Pod* pod = pods.find(victim.pod);
  if (pod != nullptr && (pod->uid != victim.uid || pod->phase == model::PodPhase::kSucceeded)) return false;
  return !gang.status.gang.placed->hasSucceeded(role, index);
}

bool isPlace(const model::Victim& victim, const Job& gang, const std::string& role, int index) {
  if (victim.place) return victim.place->role == role && victim.place->index == index;
  return model::podName(gang.key.name, role, index) == victim.pod.name;
}

VictimAssignment placeIn(const Job& gang, const model::Victim& victim,
                         const model::SharedList<model::Pod>& pods) {
  const auto& proposal = gang.status.gang.proposal;
  for (const model::Assignment& each : gang.status.gang.placed->assignments) {
    if (each.node != victim.node) continue;
    for (const int index : each.indices.values()) {
      if (!isPlace(victim, gang, each.role, index)) continue;
      if (proposal && takesAway(*proposal, each.role, index)) return {&gang, true};
      const bool waits = proposal && proposal->movesFor && proposal->removes(each.role, index);
      if (waits || isMissed(gang, each.role, index, victim, pods)) return {&gang, false};
      return {};
    }
  }
  return {};
}

// The gang of this name, if it may have a place for a member.
const Job* placedGang(const model::SharedList<Job>& jobs, const std::string& ns, std::string_view name) {
  const Job* gang = findJob(jobs, ns, name);
  const bool mayHave = gang != nullptr && gang->status.gang.placed && !gang->deleting && !gang->finished() &&
                       !model::managedByOther(*gang);
  return mayHave ? gang : nullptr;
}

}  // namespace

VictimAssignment placeOf(const model::Victim& victim, const model::SharedList<model::Pod>& pods,
                         const model::SharedList<model::Job>& jobs) {
  if (victim.place) {
    const Job* gang = placedGang(jobs, victim.pod.ns, victim.place->gang);
    return gang == nullptr ? VictimAssignment{} : placeIn(*gang, victim, pods);
  }
  const std::string& name = victim.pod.name;
  for (auto dash = name.find('-'); dash != std::string::npos; dash = name.find('-', dash + 1)) {
    const Job* gang = placedGang(jobs, victim.pod.ns, std::string_view(name).substr(0, dash));
    if (gang == nullptr) continue;
    if (const VictimAssignment place = placeIn(*gang, victim, pods); place.gang != nullptr) return place;
  }
  return {};
}

}  // namespace trainyard::core
