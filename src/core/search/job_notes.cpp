#include "core/search/job_notes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/ledger/list_changes.h"
#include "core/queues/eligibility.h"
#include "core/search/suspicion.h"

namespace trainyard::core {
namespace {

using JobPtr = JobNotes::JobPtr;

bool byKey(const JobPtr& a, const JobPtr& b) { return a->key < b->key; }

void keep(std::vector<JobPtr>& list, const JobPtr& before, const JobPtr& after, bool was, bool is) {
  if (was && is) {
    *std::lower_bound(list.begin(), list.end(), before, byKey) = after;
    return;
  }
  if (was) list.erase(std::lower_bound(list.begin(), list.end(), before, byKey));
  if (is) list.insert(std::lower_bound(list.begin(), list.end(), after, byKey), after);
}

}  // namespace

void JobNotes::follow(const model::SharedList<model::Job>& jobs) {
  if (jobs.isSameAs(jobs_)) return;
  moveNotes(jobs);
  const auto proposes = [](const JobPtr& job) { return job && job->status.gang.proposal.has_value(); };
  const auto isPreemptibleNow = [](const JobPtr& job) { return job && core::preemptibleNow(*job); };
  const auto accuses = [](const JobPtr& job) { return job && accusesNode(*job); };
  forEachChange(jobs_, jobs, [&](const JobPtr& before, const JobPtr& after) {
    keep(proposing_, before, after, proposes(before), proposes(after));
    keep(preemptibleNow_, before, after, isPreemptibleNow(before), isPreemptibleNow(after));
    keep(accusing_, before, after, accuses(before), accuses(after));
    if (before) addMembers(*before, -1, members_);
    if (after) addMembers(*after, 1, members_);
  });
  followHolders(jobs);
  jobs_ = jobs;
}

// Merges all changes at once: thousands of jobs may start and end in one cycle.
void JobNotes::followHolders(const model::SharedList<model::Job>& jobs) {
  const auto holds = [](const JobPtr& job) {
    return job && (job->status.gang.placed || job->status.gang.proposal);
  };
  std::vector<std::pair<JobPtr, JobPtr>> changes;
  forEachChange(jobs_, jobs, [&](const JobPtr& before, const JobPtr& after) {
    if (holds(before) || holds(after)) changes.emplace_back(before, after);
  });
  if (changes.empty()) return;
  std::vector<Holder> merged;
  merged.reserve(holders_.size() + changes.size());
  auto old = holders_.begin();
  for (const auto& [before, after] : changes) {
    const model::ObjectKey& key = (before ? before : after)->key;
    for (; old != holders_.end() && old->job->key < key; ++old) merged.push_back(std::move(*old));
    if (old != holders_.end() && old->job == before) ++old;
    if (holds(after)) merged.push_back({after, runFactsOf(*after)});
  }
  std::move(old, holders_.end(), std::back_inserter(merged));
  holders_ = std::move(merged);
}

void JobNotes::moveNotes(const model::SharedList<model::Job>& jobs) {
  const auto sameKey = [](const JobPtr& a, const JobPtr& b) { return a == b || a->key == b->key; };
  if (std::equal(jobs_.begin(), jobs_.end(), jobs.begin(), jobs.end(), sameKey)) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs_[i] != jobs[i]) notes_[i] = {};
    }
    return;
  }
  std::vector<Note> notes(jobs.size());
  auto old = jobs_.begin();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    while (old != jobs_.end() && *old != jobs[i] && (*old)->key < jobs[i]->key) ++old;
    if (old == jobs_.end() || *old != jobs[i]) continue;
    notes[i] = std::move(notes_[static_cast<std::size_t>(old - jobs_.begin())]);
    ++old;
  }
  notes_ = std::move(notes);
}

std::size_t JobNotes::find(const JobPtr& job, std::size_t hint) const {
  if (hint < jobs_.size() && jobs_[hint] == job) return hint;
  const auto at = std::lower_bound(jobs_.begin(), jobs_.end(), job, byKey);
  return static_cast<std::size_t>(at - jobs_.begin());
}

}  // namespace trainyard::core
