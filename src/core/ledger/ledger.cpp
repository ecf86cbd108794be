#include "core/ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "core/ledger/ledger_counter.h"
#include "core/ledger/list_changes.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Pod;
using JobPtr = std::shared_ptr<const Job>;

bool claims(const Job& job) { return job.status.gang.proposal && !job.status.gang.proposal->victims.empty(); }

}  // namespace

void Ledger::follow(const model::Snapshot& snapshot) {
  holdings_.giveBackAllTaken();
  if (!holdings_.follow(snapshot.nodes)) {
    podList_ = {};
    jobList_ = {};
    groups_ = {};
    owners_.clear();
    preemptors_.clear();
  }
  std::vector<model::Uid> owners = followJobs(snapshot.jobs);
  const auto& pods = groups_.follow(snapshot.pods);
  for (const Pod* pod : pods.gone) forgetForeignPod(*pod);
  podList_ = snapshot.pods;
  for (const Pod* pod : pods.present) countForeignPod(*pod);
  owners.insert(owners.end(), pods.owners.begin(), pods.owners.end());
  const bool podsChanged = !pods.gone.empty() || !pods.present.empty() || !pods.owners.empty();
  if (podsChanged) owners.insert(owners.end(), preemptors_.begin(), preemptors_.end());
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  // Forgets all changed owners first: their entries may point to objects that no longer exist.
  for (const model::Uid& owner : owners) forgetOwner(owners_[owner]);
  for (const model::Uid& owner : owners) countOwner(owner);
  holdings_.addUpChanged();
}

std::vector<model::Uid> Ledger::followJobs(const model::SharedList<Job>& jobs) {
  std::vector<model::Uid> changed;
  forEachChange(jobList_, jobs, [&](const JobPtr& before, const JobPtr& after) {
    if (before) changed.push_back(before->uid);
    if (after) changed.push_back(after->uid);
    replaceJob(before, after);
  });
  jobList_ = jobs;
  return changed;
}

void Ledger::replaceJob(const JobPtr& before, const JobPtr& after) {
  if (before && (!after || before->uid != after->uid)) {
    preemptors_.erase(before->uid);
    // The API never creates two jobs of one uid; if it did, the first by name would count.
    const auto known = owners_.find(before->uid);
    if (known != owners_.end() && known->second.job == before) known->second.job = nullptr;
  }
  if (!after) return;
  Owner& owner = owners_[after->uid];
  if (owner.job && owner.job != before) return;
  owner.job = after;
  if (claims(*after)) {
    preemptors_.insert(after->uid);
  } else {
    preemptors_.erase(after->uid);
  }
}

void Ledger::forgetOwner(Owner& owner) {
  for (const std::uint32_t node : owner.nodes) holdings_.removeOwnedBy(owner.id, node);
  owner.nodes.clear();
}

void Ledger::countOwner(const model::Uid& uid) {
  Owner& owner = owners_[uid];
  const JobPods& pods = groups_.naming(uid);
  if (pods.empty() && !owner.job) {
    owners_.erase(uid);
    return;
  }
  if (owner.id == NodeHoldings::kNoOwner) owner.id = ++lastOwner_;
  Counter(*this, owner).count(pods);
}

void Ledger::countForeignPod(const Pod& pod) {
  const auto node = Counter::nodeOfForeignPod(*this, pod);
  if (node) holdings_.add(*node, {.pod = &pod});
}

void Ledger::forgetForeignPod(const Pod& pod) {
  const auto node = Counter::nodeOfForeignPod(*this, pod);
  if (node) holdings_.removePod(pod, *node);
}

const Ledger::Owner* Ledger::findOwner(const model::Uid& uid) const {
  const auto found = owners_.find(uid);
  return found == owners_.end() ? nullptr : &found->second;
}

}  // namespace trainyard::core
