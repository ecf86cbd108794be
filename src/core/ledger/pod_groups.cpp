#include "core/ledger/pod_groups.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/ledger/list_changes.h"
#include "model/member_of.h"

namespace trainyard::core {
namespace {

using model::Pod;

const JobPods& none() {
  static const JobPods kNone;
  return kNone;
}

}  // namespace

const model::Pod* findVictim(const model::SharedList<model::Pod>& pods, const model::Victim& victim) {
  const model::Pod* pod = pods.find(victim.pod);
  return pod != nullptr && pod->uid == victim.uid ? pod : nullptr;
}

const PodGroups::Changes& PodGroups::follow(const model::SharedList<Pod>& pods) {
  changes_ = {};
  if (pods.isSameAs(pods_)) return changes_;
  previous_ = std::exchange(pods_, pods);
  forEachChange(previous_, pods_, [this](const PodPtr& before, const PodPtr& after) {
    if (before) leave(before);
    if (before && before->arrival) leaveArrivals(before);
    if (after) enter(after);
    if (after && after->arrival) enterArrivals(after);
  });
  finishGroups();
  return changes_;
}

void PodGroups::leave(const PodPtr& pod) {
  if (!model::claimsGang(*pod)) return changes_.gone.push_back(pod.get());
  changes_.owners.push_back(model::gangUidOf(*pod));
  std::erase(groups_[model::gangUidOf(*pod)].pods, pod);
}

void PodGroups::enter(const PodPtr& pod) {
  if (!model::claimsGang(*pod)) return changes_.present.push_back(pod.get());
  changes_.owners.push_back(model::gangUidOf(*pod));
  JobPods& pods = groups_[model::gangUidOf(*pod)].pods;
  const auto at = std::lower_bound(pods.begin(), pods.end(), pod,
                                   [](const PodPtr& a, const PodPtr& b) { return a->key < b->key; });
  pods.insert(at, pod);
}

void PodGroups::leaveArrivals(const PodPtr& pod) {
  const auto found = arrivals_.find({pod->key.ns, pod->arrival->gang});
  changes_.arrivals.push_back(found->first);
  std::erase(found->second, pod);
  if (found->second.empty()) arrivals_.erase(found);
}

void PodGroups::enterArrivals(const PodPtr& pod) {
  const model::ObjectKey gang{pod->key.ns, pod->arrival->gang};
  changes_.arrivals.push_back(gang);
  JobPods& pods = arrivals_[gang];
  const auto age = [](const PodPtr& each) { return std::tie(each->created, each->key); };
  const auto at = std::lower_bound(pods.begin(), pods.end(), pod,
                                   [&](const PodPtr& a, const PodPtr& b) { return age(a) < age(b); });
  pods.insert(at, pod);
}

void PodGroups::finishGroups() {
  auto& owners = changes_.owners;
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  for (const model::Uid& owner : owners) {
    const auto found = groups_.find(owner);
    Group& group = found->second;
    if (group.pods.empty()) {
      groups_.erase(found);
      continue;
    }
    group.apart.clear();
    // The list is sorted by namespace first, so equal ends mean one namespace.
    if (group.pods.front()->key.ns == group.pods.back()->key.ns) continue;
    for (const PodPtr& pod : group.pods) group.apart[pod->key.ns].push_back(pod);
  }
}

const JobPods& PodGroups::naming(const model::Uid& uid) const {
  const auto found = groups_.find(uid);
  return found == groups_.end() ? none() : found->second.pods;
}

const JobPods& PodGroups::arrivals(const model::ObjectKey& gang) const {
  const auto found = arrivals_.find(gang);
  return found == arrivals_.end() ? none() : found->second;
}

const JobPods& PodGroups::of(const model::Job& job) const {
  const auto found = groups_.find(job.uid);
  if (found == groups_.end()) return none();
  const Group& group = found->second;
  if (group.apart.empty()) return group.pods.front()->key.ns == job.key.ns ? group.pods : none();
  const auto own = group.apart.find(job.key.ns);
  return own == group.apart.end() ? none() : own->second;
}

}  // namespace trainyard::core
