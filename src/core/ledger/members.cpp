#include "core/ledger/members.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "model/managed_by.h"
#include "model/member_of.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

bool isMemberOf(const model::Pod& pod, const model::Job& job, std::int64_t epoch) {
  return model::gangUidOf(pod) == job.uid && pod.key.ns == job.key.ns && namedAsMember(pod, job) &&
         pod.member->epoch == epoch;
}

bool recorded(const std::vector<model::Assignment>& assignments, std::string_view role, int index) {
  return std::any_of(assignments.begin(), assignments.end(), [&](const model::Assignment& assignment) {
    return assignment.role == role && assignment.indices.contains(index);
  });
}

// Whether `a` has its place before `b`, if a Gang has two pods for one: a pod that failed and its successor;
// or two that were released by two leaders.
bool comesFirst(const model::Pod* a, const model::Pod* b) {
  const auto rank = [](const model::Pod& pod) {
    if (pod.phase == model::PodPhase::kSucceeded) return 2;
    if (pod.phase == model::PodPhase::kFailed) return 3;
    return pod.bound() ? 0 : 1;
  };
  return std::tuple(rank(*a), a->created, a->uid) < std::tuple(rank(*b), b->created, b->uid);
}

using Place = std::tuple<std::string_view, int, std::int64_t>;  // role, index, epoch

Place placeOf(const model::Pod& pod) { return {pod.member->role, pod.member->index, pod.member->epoch}; }

// Finds the pods of a job's members: by name, or in a Gang by place.
class PodIndex {
 public:
  PodIndex(const model::Job& job, const JobPods& pods) : job_(job) {
    for (const auto& pod : pods) {
      if (job.owner == nullptr) {
        byName_.emplace(pod->key.name, pod.get());
      } else if (namedAsMember(*pod, job)) {
        const auto [at, isNew] = byPlace_.try_emplace(placeOf(*pod), pod.get());
        if (!isNew && comesFirst(pod.get(), at->second)) at->second = pod.get();
      }
    }
  }

  void append(const model::Assignment& assignment, std::int64_t epoch, std::vector<Member>& members) const {
    const model::Role* role = job_.spec.findRole(assignment.role);
    for (const int index : assignment.indices.values()) {
      const model::Pod* pod = find(assignment.role, index, epoch);
      const bool matches = pod != nullptr && isMemberOf(*pod, job_, epoch);
      const MemberEnd end = matches ? endOf(*pod, role) : MemberEnd::kNone;
      members.push_back({.role = assignment.role,
                         .index = index,
                         .node = assignment.node,
                         .pod = matches ? pod : nullptr,
                         .epoch = epoch,
                         .succeeded = end == MemberEnd::kSucceeded,
                         .failed = end == MemberEnd::kFailed});
    }
  }

 private:
  [[nodiscard]] const model::Pod* find(const std::string& role, int index, std::int64_t epoch) const {
    if (job_.owner == nullptr) {
      const auto found = byName_.find(model::podName(job_.key.name, role, index));
      return found == byName_.end() ? nullptr : found->second;
    }
    const auto found = byPlace_.find({role, index, epoch});
    return found == byPlace_.end() ? nullptr : found->second;
  }

  const model::Job& job_;
  std::unordered_map<std::string_view, const model::Pod*> byName_;
  std::map<Place, const model::Pod*> byPlace_;
};

}  // namespace

MemberEnd endOf(const model::Pod& pod, const model::Role* role) {
  if (pod.phase == model::PodPhase::kSucceeded) return MemberEnd::kSucceeded;
  if (pod.phase == model::PodPhase::kFailed) return MemberEnd::kFailed;
  if (pod.partlyEnded == nullptr || role == nullptr || role->containers.empty()) return MemberEnd::kNone;
  bool failed = false;
  for (const std::string& name : role->containers) {
    const auto& ended = pod.partlyEnded->ended;
    const auto at =
        std::find_if(ended.begin(), ended.end(), [&](const auto& each) { return each.name == name; });
    if (at == ended.end()) return MemberEnd::kNone;
    failed = failed || at->exitCode != 0;
  }
  return failed ? MemberEnd::kFailed : MemberEnd::kSucceeded;
}

// Compares with the result of model::podName without creating a string: it runs for every pod of a cluster.
bool namedAsMember(const model::Pod& pod, const model::Job& job) {
  if (!pod.member) return false;
  if (job.owner != nullptr) return pod.gangUid == job.uid && pod.member->jobName == job.key.name;
  std::string_view rest = pod.key.name;
  const auto skip = [&](std::string_view part) {
    if (!rest.starts_with(part)) return false;
    rest.remove_prefix(part.size());
    return true;
  };
  std::array<char, 16> digits{};
  const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(), pod.member->index);
  return failure == std::errc{} && skip(job.key.name) && skip("-") && skip(pod.member->role) && skip("-") &&
         rest == std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

bool wasMember(const model::Pod& pod, const model::Job& job) {
  if (model::managedByOther(job) || !pod.member || pod.member->epoch < 1) return false;
  return pod.member->epoch <= newestEpoch(job.status.gang) && isMemberOf(pod, job, pod.member->epoch);
}

std::int64_t newestEpoch(const model::GangRecord& gang) {
  return std::max({gang.lastEpoch, gang.placed ? gang.placed->epoch : std::int64_t{-1},
                   gang.proposal ? gang.proposal->epoch : std::int64_t{-1}});
}

std::vector<Member> placedMembers(const model::Job& job, const model::Placed& placed, const JobPods& pods) {
  const PodIndex index(job, pods);
  std::vector<Member> members;
  for (const model::Assignment& assignment : placed.assignments) {
    index.append(assignment, placed.epochOf(assignment), members);
  }
  if (placed.succeeded.empty()) return members;
  for (Member& member : members)
    member.succeeded = member.succeeded || placed.hasSucceeded(member.role, member.index);
  return members;
}

std::vector<Member> addedMembers(const model::Job& job, const model::Proposal& proposal,
                                 const JobPods& pods) {
  const PodIndex index(job, pods);
  std::vector<Member> members;
  for (const model::Assignment& assignment : proposal.add) index.append(assignment, proposal.epoch, members);
  return members;
}

std::vector<Member> removedMembers(const model::Job& job, const model::Proposal& proposal,
                                   const JobPods& pods) {
  if (!job.status.gang.placed) return {};
  std::vector<Member> members = placedMembers(job, *job.status.gang.placed, pods);
  std::erase_if(members, [&](const Member& m) { return !recorded(proposal.remove, m.role, m.index); });
  return members;
}

bool isOfFormerJob(const model::Pod& pod, const model::Job& job) {
  return pod.controllerKind == model::names::kTrainingJobKind && pod.controllerUid != job.uid &&
         pod.key.ns == job.key.ns && namedAsMember(pod, job);
}

bool isLeftToOwner(const model::Job& job, const model::Pod& pod) {
  return job.owner != nullptr && pod.finished();
}

std::vector<const model::Pod*> strayPods(const model::Job& job, const JobPods& pods) {
  const model::GangRecord& gang = job.status.gang;
  std::vector<Member> members;
  if (!pods.empty() && (gang.placed || gang.proposal)) {
    const PodIndex index(job, pods);
    if (gang.placed) {
      for (const model::Assignment& each : gang.placed->assignments)
        index.append(each, gang.placed->epochOf(each), members);
    }
    if (gang.proposal) {
      for (const model::Assignment& each : gang.proposal->add)
        index.append(each, gang.proposal->epoch, members);
    }
  }
  std::unordered_set<const model::Pod*> kept;
  for (const Member& member : members) kept.insert(member.pod);
  std::vector<const model::Pod*> strays;
  for (const auto& pod : pods) {
    if (!kept.contains(pod.get()) && !isLeftToOwner(job, *pod)) strays.push_back(pod.get());
  }
  return strays;
}

}  // namespace trainyard::core
