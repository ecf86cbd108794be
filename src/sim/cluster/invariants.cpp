#include "sim/cluster/invariants.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/member_of.h"
#include "model/one_per_node.h"

namespace trainyard::sim {
namespace {

bool occupies(const model::Pod& pod) { return pod.bound() && !pod.finished(); }

bool isMember(const model::Pod& pod) { return model::claimsGang(pod) && pod.member.has_value(); }

bool isFor(const model::Assignment& place, const model::MemberLabels& member) {
  return place.role == member.role && place.indices.contains(member.index);
}

// Null for a member of another epoch than its place, and for one without.
const model::NodeName* placeOf(const model::GangRecord& gang, const model::MemberLabels& member) {
  if (gang.proposal && gang.proposal->epoch == member.epoch) {
    for (const model::Assignment& each : gang.proposal->add) {
      if (isFor(each, member)) return &each.node;
    }
  }
  if (!gang.placed) return nullptr;
  for (const model::Assignment& each : gang.placed->assignments) {
    if (isFor(each, member) && gang.placed->epochOf(each) == member.epoch) return &each.node;
  }
  return nullptr;
}

// Returns true if a pod with these requests exceeds the free capacity. Resources that it does not request may
// be short for other reasons: a restarting device plug-in leaves a node with less than its pods hold.
bool overdraws(const model::Resources& free, const model::Resources& requests) {
  const auto over = [](std::int64_t left, std::int64_t wants) { return left < 0 && wants > 0; };
  return over(free.cpu.value, requests.cpu.value) || over(free.memory.value, requests.memory.value) ||
         over(free.pods, requests.pods) ||
         std::any_of(free.extendedAll().begin(), free.extendedAll().end(), [&](const auto& each) {
           const std::int64_t uncounted = model::isOnePerNode(each.first) ? 1 : 0;
           return over(each.second + uncounted, requests.extended(each.first));
         });
}

int wanted(const model::Job& job) { return job.spec.minAvailable.value_or(job.spec.totalReplicas()); }

}  // namespace

Invariants::Invariants(ClusterObserver& observer, base::Executor& executor, InvariantLimits limits)
    : observer_(observer), executor_(executor), limits_(limits) {
  observer_.cache().pods.onChange(
      [this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
  observer_.cache().nodes.onChange([this](const auto& before, const auto& after) {
    if (before && after && before->allocatable != after->allocatable) allocatableChanged(*before);
  });
  observer_.cache().jobs.onChange(
      [this](const auto& before, const auto& after) { checkGang((after ? after : before)->uid); });
}

void Invariants::violated(std::string what) {
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(executor_.now().time_since_epoch());
  violations_.push_back(fmt::format("{} ms: {}", at.count(), what));
}

void Invariants::podChanged(const PodPtr& before, const PodPtr& after) {
  if (before && occupies(*before)) used_[before->node].subtract(before->shape.requests);
  if (after && occupies(*after)) {
    used_[after->node].add(after->shape.requests);
    if (!before || !before->bound()) checkNode(after->node, after->shape.requests);
  }
  if (before && isMember(*before) && (!after || after->uid != before->uid)) {
    members_[model::gangUidOf(*before)].erase(before->key.name);
    checkGang(model::gangUidOf(*before));
  }
  if (after && isMember(*after)) {
    members_[model::gangUidOf(*after)][after->key.name] = after;
    checkMember(*after);
    checkGang(model::gangUidOf(*after));
  }
}

void Invariants::allocatableChanged(const model::Node& before) {
  hadUntil_[before.name] = {before.allocatable, executor_.now()};
}

void Invariants::checkNode(const model::NodeName& name, const model::Resources& arrived) {
  const auto node = observer_.cache().nodes.find(name);
  if (!node) return;
  model::Resources free = node->allocatable;
  free.subtract(used_[name]);
  if (!overdraws(free, arrived)) return;
  const auto had = hadUntil_.find(name);
  if (had != hadUntil_.end() && executor_.now() - had->second.second < limits_.shrinkUnknown) {
    model::Resources before = had->second.first;
    before.subtract(used_[name]);
    if (!overdraws(before, arrived)) return;
  }
  violated(fmt::format("node {} holds more than it has ({} GPUs over)", name, -free.gpus()));
}

void Invariants::checkMember(const model::Pod& pod) {
  // A Gang may have two for a moment: any two pods can arrive.
  const bool isOfJob = pod.gangUid.empty();
  for (const auto& [name, other] : members_[model::gangUidOf(pod)]) {
    const bool same = isOfJob && other->uid != pod.uid && !other->terminating && !pod.terminating &&
                      other->member->role == pod.member->role && other->member->index == pod.member->index;
    if (same) violated(fmt::format("pods {} and {} are the same member", other->key, pod.key));
  }
  if (!pod.bound()) return;
  const auto job = observer_.cache().jobs.find({pod.key.ns, pod.member->jobName});
  if (!job || job->uid != model::gangUidOf(pod)) return;
  const model::NodeName* place = placeOf(job->status.gang, *pod.member);
  if (place != nullptr && *place != pod.node) {
    violated(fmt::format("pod {} is bound to {}, its place is on {}", pod.key, pod.node, *place));
  }
}

void Invariants::checkGang(const model::Uid& uid) {
  const auto& jobs = observer_.cache().jobs.all();
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const auto& each) { return each->uid == uid; });
  const auto members = members_.find(uid);
  const bool over =
      found == jobs.end() || (*found)->finished() || (*found)->deleting || (*found)->spec.run.suspend;
  if (over || members == members_.end() ||
      ((*found)->status.gang.placed && !(*found)->status.gang.proposal)) {
    partlySince_.erase(uid);
    return;
  }
  const auto released = std::count_if(members->second.begin(), members->second.end(), [](const auto& each) {
    return !each.second->gangGated && !each.second->terminating && !each.second->finished();
  });
  if (released == 0 || released >= wanted(**found)) {
    partlySince_.erase(uid);
    return;
  }
  partlySince_.try_emplace(uid, executor_.now());
}

void Invariants::checkTime() {
  for (const auto& [uid, since] : partlySince_) {
    if (executor_.now() - since < limits_.partlyReleased || !partlyReported_.insert(uid).second) continue;
    violated(fmt::format("the gang of job uid {} has been let go in part for {} s", uid,
                         limits_.partlyReleased.count()));
  }
}

std::vector<std::string> Invariants::leftovers() const {
  std::vector<std::string> left;
  std::set<model::Uid> alive;
  for (const auto& job : observer_.cache().jobs.all()) {
    alive.insert(job->uid);
    if (job->status.gang.proposal) left.push_back(fmt::format("job {} still has a proposal", job->key));
    if (job->deleting) left.push_back(fmt::format("job {} is still being deleted", job->key));
  }
  for (const auto& pod : observer_.cache().pods.all()) {
    if (!model::claimsGang(*pod)) continue;
    // Another Gang may have taken the place of one that has ended.
    const bool isRecord = !pod->gangUid.empty() && pod->finished();
    if (!alive.contains(model::gangUidOf(*pod)) && !isRecord)
      left.push_back(fmt::format("pod {} has outlived its job", pod->key));
    if (pod->gangGated) left.push_back(fmt::format("pod {} is still gated", pod->key));
    if (pod->terminating) left.push_back(fmt::format("pod {} is still going away", pod->key));
  }
  return left;
}

}  // namespace trainyard::sim
