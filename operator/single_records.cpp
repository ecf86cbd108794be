#include "operator/single_records.h"

#include <algorithm>
#include <utility>

#include "core/gang/gang_proposals.h"
#include "core/ledger/members.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "model/charge.h"
#include "model/device_names.h"
#include "model/gang_size.h"
#include "model/managed_by.h"
#include "model/names.h"
#include "model/one_per_node.h"

namespace trainyard::operator_ {
namespace {

// A thousand pods, the most at a time, are bound within less. A pod that is not has another problem.
constexpr std::chrono::seconds kInFlight{30};

// True if the job still needs its record. Otherwise the written record counts, or none does.
bool unrecorded(const model::Job& job) {
  const model::GangRecord& gang = job.status.gang;
  return !gang.placed && !gang.proposal && !job.finished() && model::isSinglePod(job) &&
         !model::managedByOther(job);
}

// The only member of a single-pod job has index 0, whatever index a pod claims: a record may not be able to
// hold a larger one.
bool isNextPodOf(const model::Pod& pod, const model::Job& job) {
  return pod.controllerUid == job.uid && core::namedAsMember(pod, job) && pod.member->index == 0 &&
         pod.member->epoch == job.status.gang.lastEpoch + 1;
}

// A job with a record may be outdated, because the list of jobs may lag behind that of pods.
bool mayBeUnrecorded(const model::Pod& pod, const model::Job& job) {
  return unrecorded(job) || (model::isSinglePod(job) && !job.finished() && isNextPodOf(pod, job));
}

// The pod may request more than the template, so the job is charged at least for the pod's requests.
model::Charge chargeOf(const model::Job& job, const model::Pod& pod, const model::Snapshot& snapshot) {
  model::Charge charge =
      model::makeCharge(job.spec, core::requestedQueue(job, snapshot), core::Priorities(snapshot).of(job));
  charge.ancestors = core::ancestorsOf(charge.queue, snapshot);
  model::Resources held = pod.shape.requests;
  const auto extended = held.extendedAll();
  for (const auto& [name, amount] : extended) {
    if (model::isOnePerNode(name) || model::isContest(name)) held.setExtended(name, 0);
  }
  for (model::Charge::Member& member : charge.members) {
    if (member.role == pod.member->role) member.requests.raiseTo(held);
  }
  return charge;
}

}  // namespace

SingleRecords::SingleRecords(kube::ClusterCache& cache, core::Settings settings)
    : cache_(cache), settings_(settings) {
  cache.pods.onChange([this](const auto& before, const auto& after) { podChanged(before, after); });
}

void SingleRecords::podChanged(const PodPtr& before, const PodPtr& after) {
  const model::Pod& pod = after ? *after : *before;
  if (!pod.member || pod.controllerKind != model::names::kTrainingJobKind) return;
  const model::ObjectKey key{pod.key.ns, pod.member->jobName};
  const bool replaced = before && (!after || after->uid != before->uid);
  if (replaced && before->bound()) podGone(key, *before);
  if (!after || !after->bound()) return;
  const auto job = cache_.jobs.find(key);
  // Nearly all pods of a cluster belong to jobs with a written record.
  if (job && !mayBeUnrecorded(*after, *job)) return;
  std::vector<PodPtr>& bound = entries_[key].bound;
  std::erase_if(bound, [&](const PodPtr& each) { return each->key == after->key; });
  bound.push_back(after);
}

void SingleRecords::podGone(const model::ObjectKey& job, const model::Pod& pod) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  const auto at = std::find_if(entry.bound.begin(), entry.bound.end(),
                               [&](const PodPtr& each) { return each->uid == pod.uid; });
  if (at == entry.bound.end()) return;
  const auto known = cache_.jobs.find(job);
  if (known && unrecorded(*known) && isNextPodOf(pod, *known)) entry.lost = *at;
  entry.bound.erase(at);
  if (!entry.made && !entry.lost && entry.bound.empty()) entries_.erase(found);
}

void SingleRecords::making(const model::Job& job, model::GangRecord record, base::WallTime now) {
  Entry& entry = entries_[job.key];
  entry.uid = job.uid;
  entry.made = std::make_shared<const model::GangRecord>(std::move(record));
  entry.madeAt = now;
}

void SingleRecords::forget(const model::ObjectKey& job) {
  const auto entry = entries_.find(job);
  if (entry == entries_.end()) return;
  entry->second.made.reset();
  if (entry->second.bound.empty()) entries_.erase(entry);
}

const model::GangRecord* SingleRecords::made(const model::ObjectKey& job) const {
  const auto entry = entries_.find(job);
  return entry == entries_.end() ? nullptr : entry->second.made.get();
}

void SingleRecords::overlay(model::Snapshot& snapshot) {
  unboundPods_ = 0;
  // Both lists are sorted by key, and in a rush nearly every job has an entry: walk them together.
  std::size_t next = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto& jobs = snapshot.jobs.items();
    const auto isNext = [&] { return next < jobs.size() && jobs[next]->key == entry->first; };
    if (!isNext()) {
      const auto from = jobs.begin() + static_cast<std::ptrdiff_t>(next);
      const auto at = std::lower_bound(from, jobs.end(), entry->first,
                                       [](const auto& job, const auto& key) { return job->key < key; });
      next = static_cast<std::size_t>(at - jobs.begin());
    }
    auto job = isNext() ? jobs[next] : nullptr;
    if (!job || job->uid != entry->second.uid) orphan(entry->first, entry->second);
    if (!apply(entry->second, job, snapshot)) {
      entry = entries_.erase(entry);
      continue;
    }
    if (job) {
      if (job != jobs[next]) snapshot.jobs.edit()[next] = std::move(job);
      ++next;
    }
    const Entry& kept = entry->second;
    if (kept.made && kept.bound.empty() && snapshot.now - kept.madeAt < kInFlight) ++unboundPods_;
    ++entry;
  }
  showOrphans(snapshot);
}

void SingleRecords::orphan(const model::ObjectKey& job, Entry& entry) {
  if (!entry.made) return;
  const model::Assignment& place = entry.made->proposal->add.front();
  const int index = place.indices.values().front();
  orphans_.push_back({{job.ns, model::podName(job.name, place.role, index)}, entry.uid, entry.madeAt});
  entry.made.reset();
}

void SingleRecords::showOrphans(model::Snapshot& snapshot) {
  std::erase_if(orphans_, [&](Orphan& orphan) {
    const std::size_t at = snapshot.pods.positionOf(orphan.pod);
    const bool found = at != snapshot.pods.size() && snapshot.pods[at]->controllerUid == orphan.owner;
    // The reply to the pod's creation may still be on its way.
    if (!found) return orphan.from != nullptr || snapshot.now - orphan.madeAt >= kInFlight;
    const PodPtr& pod = snapshot.pods[at];
    if (pod->bound() || pod->finished() || !pod->pinned) return true;
    if (orphan.from != pod) {
      auto shown = std::make_shared<model::Pod>(*pod);
      shown->node = *pod->pinned;
      orphan.from = pod;
      orphan.to = std::move(shown);
    }
    snapshot.pods.edit()[at] = orphan.to;
    return false;
  });
}

bool SingleRecords::apply(Entry& entry, std::shared_ptr<const model::Job>& job,
                          const model::Snapshot& snapshot) const {
  // The list of jobs may lag behind that of pods.
  if (!job) {
    entry.lost.reset();
    return !entry.bound.empty();
  }
  if (!unrecorded(*job)) {
    entry.made.reset();
    entry.lost.reset();
    std::erase_if(entry.bound, [&](const PodPtr& each) { return !mayBeUnrecorded(*each, *job); });
    return !entry.bound.empty();
  }
  if (entry.made && entry.made->lastEpoch != job->status.gang.lastEpoch + 1) entry.made.reset();
  if (entry.lost && !isNextPodOf(*entry.lost, *job)) entry.lost.reset();
  const auto at = std::find_if(entry.bound.begin(), entry.bound.end(),
                               [&](const PodPtr& each) { return isNextPodOf(*each, *job); });
  // A pod that this leader did not make counts only if its namespace may use the queue.
  const bool counts =
      entry.made || core::queueOpenTo(core::requestedQueue(*job, snapshot), job->key.ns, snapshot);
  const PodPtr bound = at == entry.bound.end() || !counts ? nullptr : *at;
  if (!counts) entry.lost.reset();
  if (!bound && !entry.lost && !entry.made) return !entry.bound.empty();
  // The lost pod's own address stood for it while it was bound, so another one stands for its loss.
  const void* by = bound        ? static_cast<const void*>(bound.get())
                   : entry.lost ? static_cast<const void*>(&entry.lost)
                                : entry.made.get();
  if (entry.seenAs.from != job || entry.seenAs.by != by) {
    auto copy = std::make_shared<model::Job>(*job);
    copy->status.gang = recordOf(entry, *job, bound, snapshot);
    // The job was placed and lost its member. Otherwise its pod would be made again as if it were new.
    if (!bound && entry.lost) copy->status.gang = core::mergeProposal(*copy);
    copy->recordUnwritten = true;
    entry.seenAs = {job, std::move(copy), by};
  }
  job = entry.seenAs.to;
  return true;
}

model::GangRecord SingleRecords::recordOf(const Entry& entry, const model::Job& job, const PodPtr& bound,
                                          const model::Snapshot& snapshot) const {
  if (!bound && !entry.lost) return *entry.made;
  const model::Pod& pod = bound ? *bound : *entry.lost;
  model::GangRecord record = core::recordOfPod(job, pod, settings_);
  // The spec may have changed since admission, so `made` is preferred. A new leader has only the spec.
  if (entry.made) {
    record.charge = entry.made->charge;
  } else if (pod.shape.deviceClaims.empty()) {
    record.charge = chargeOf(job, pod, snapshot);
  }  // else the cycle charges it, which knows its devices
  return record;
}

}  // namespace trainyard::operator_
