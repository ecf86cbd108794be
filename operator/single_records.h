#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/gang/settings.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Records of gangs of one that are not written yet (docs/protocol.md, "A gang of one"): from the plan to make
// its pod until that is bound, the place that this leader chose; then the place where it is bound, whoever
// chose it.
//
// Lives on the executor's loop.
class SingleRecords {
 public:
  SingleRecords(kube::ClusterCache& cache, core::Settings settings);

  // This leader makes the job's pod, for this record.
  void making(const model::Job& job, model::GangRecord record, base::WallTime now);
  // Another pod came first: what it is counts, once it is bound.
  void forget(const model::ObjectKey& job);
  // The place that was chosen for the job's pod; null when this leader makes none.
  [[nodiscard]] const model::GangRecord* made(const model::ObjectKey& job) const;

  // Pods that this leader made lately, and that were not bound when the last snapshot was overlaid.
  [[nodiscard]] std::size_t onTheirWay() const { return onTheirWay_; }

  // Gives the snapshot's jobs their records. The same object for the same job, pod and plan, so that it
  // counts as a change once only. A pod that this leader made for a job that has gone since is shown where it
  // may be bound at any time, until it is known to be, or gone.
  void overlay(model::Snapshot& snapshot);

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;
  struct Entry {
    model::Uid uid;  // of the job that `made` is for
    std::shared_ptr<const model::GangRecord> made = nullptr;
    base::WallTime madeAt{};
    // All that are bound and say that they are the job's, which anybody can write: which of them is, its
    // name, owner and epoch tell. Another one may be of the job that had the name before.
    std::vector<PodPtr> bound = {};
    PodPtr lost = nullptr;  // the job's, that was bound and is gone: its gang has to start anew
    struct {
      std::shared_ptr<const model::Job> from, to;
      const void* by = nullptr;  // pod or record
    } seenAs = {};
  };

  // Made for a job that is gone; nothing else tells where it belongs.
  struct Orphan {
    model::ObjectKey pod;
    model::Uid owner;
    base::WallTime madeAt{};
    PodPtr from = nullptr, to = nullptr;  // as the cache has it, and as it is shown
  };

  void podChanged(const PodPtr& before, const PodPtr& after);
  void podGone(const model::ObjectKey& job, const model::Pod& pod);
  void orphan(const model::ObjectKey& job, Entry& entry);
  void showOrphans(model::Snapshot& snapshot);
  // False: nothing is left to be known of it.
  [[nodiscard]] bool apply(Entry& entry, std::shared_ptr<const model::Job>& job,
                           const model::Snapshot& snapshot) const;
  [[nodiscard]] model::GangRecord recordOf(const Entry& entry, const model::Job& job, const PodPtr& bound,
                                           const model::Snapshot& snapshot) const;

  kube::ClusterCache& cache_;
  core::Settings settings_;
  std::map<model::ObjectKey, Entry> entries_;  // by job
  std::vector<Orphan> orphans_;
  std::size_t onTheirWay_ = 0;
};

}  // namespace trainyard::operator_
