#include "operator/single_records.h"

#include <algorithm>
#include <utility>

#include "core/gang/gang_proposals.h"
#include "core/ledger/members.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

// A thousand pods, which are the most at a time, are bound sooner; what is not has another reason.
constexpr std::chrono::seconds kOnItsWay{30};

// It wants a record: else what is written counts, or nothing does.
bool unrecorded(const model::Job& job) {
  const model::GangRecord& gang = job.status.gang;
  return !gang.placed && !gang.proposal && !job.finished() && model::gangMembers(job) == 1;
}

bool isNextPodOf(const model::Pod& pod, const model::Job& job) {
  return pod.controllerUid == job.uid && core::namedAsMember(pod, job) &&
         pod.member->epoch == job.status.gang.lastEpoch + 1;
}

}  // namespace

SingleRecords::SingleRecords(kube::ClusterCache& cache, core::Settings settings)
    : cache_(cache), settings_(settings) {
  cache.pods.onChange([this](const auto& before, const auto& after) { podChanged(before, after); });
}

void SingleRecords::podChanged(const std::shared_ptr<const model::Pod>& before,
                               const std::shared_ptr<const model::Pod>& after) {
  const model::Pod& pod = after ? *after : *before;
  if (!pod.member || pod.controllerKind != model::names::kTrainingJobKind) return;
  const model::ObjectKey key{pod.key.ns, pod.member->jobName};
  if (after && after->bound()) {
    const auto job = cache_.jobs.find(key);
    // Nearly all pods of a cluster are of jobs whose record is written.
    if (!job || unrecorded(*job)) entries_[key].bound = after;
    return;
  }
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || !entry->second.bound || entry->second.bound->key != pod.key) return;
  entry->second.bound.reset();
  if (!entry->second.made) entries_.erase(entry);
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
  if (!entry->second.bound) entries_.erase(entry);
}

const model::GangRecord* SingleRecords::made(const model::ObjectKey& job) const {
  const auto entry = entries_.find(job);
  return entry == entries_.end() ? nullptr : entry->second.made.get();
}

void SingleRecords::overlay(model::Snapshot& snapshot) {
  onTheirWay_ = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto& jobs = snapshot.jobs.items();
    const auto at = std::lower_bound(jobs.begin(), jobs.end(), entry->first,
                                     [](const auto& job, const auto& key) { return job->key < key; });
    const bool found = at != jobs.end() && (*at)->key == entry->first;
    auto job = found ? *at : nullptr;
    if (!apply(entry->second, job)) {
      entry = entries_.erase(entry);
      continue;
    }
    if (job && job != *at) snapshot.jobs.edit()[static_cast<std::size_t>(at - jobs.begin())] = std::move(job);
    const Entry& kept = entry->second;
    if (kept.made && !kept.bound && snapshot.now - kept.madeAt < kOnItsWay) ++onTheirWay_;
    ++entry;
  }
}

bool SingleRecords::apply(Entry& entry, std::shared_ptr<const model::Job>& job) const {
  // The list of jobs may be behind that of pods.
  if (!job) {
    entry.made.reset();
    return entry.bound != nullptr;
  }
  if (!unrecorded(*job)) return false;
  const bool current =
      entry.made && entry.uid == job->uid && entry.made->lastEpoch == job->status.gang.lastEpoch + 1;
  if (!current) entry.made.reset();
  const bool isBound = entry.bound && isNextPodOf(*entry.bound, *job);
  if (!isBound && !entry.made) return entry.bound != nullptr;
  const void* by = isBound ? static_cast<const void*>(entry.bound.get()) : entry.made.get();
  if (entry.seenAs.from != job || entry.seenAs.by != by) {
    auto copy = std::make_shared<model::Job>(*job);
    copy->status.gang = isBound ? core::recordOfPod(*job, *entry.bound, settings_) : *entry.made;
    // What the job says by now is nothing that it was admitted as.
    if (isBound && entry.made) copy->status.gang.charge = entry.made->charge;
    copy->recordUnwritten = true;
    entry.seenAs = {job, std::move(copy), by};
  }
  job = entry.seenAs.to;
  return true;
}

}  // namespace trainyard::operator_
