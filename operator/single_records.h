#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/gang/settings.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"

namespace trainyard::operator_ {

// Unwritten records of single-pod jobs (docs/protocol.md, "A gang of one"). From the plan to make the pod
// until the pod is bound, a record has the node that this leader chose. After that it has the node where the
// pod is bound, whichever program chose that.
//
// Lives on the executor's loop.
class SingleRecords {
 public:
  SingleRecords(kube::ClusterCache& cache, core::Settings settings);

  // Call when this leader makes the job's pod with this record.
  void making(const model::Job& job, model::GangRecord record, base::WallTime now);
  // Drops the plan because another pod came first, which counts once it is bound.
  void forget(const model::ObjectKey& job);
  // The record with the node chosen for the job's pod; null if this leader makes none.
  [[nodiscard]] const model::GangRecord* made(const model::ObjectKey& job) const;

  // Pods that this leader made recently and that were not bound at the last overlay().
  [[nodiscard]] std::size_t unboundPods() const { return unboundPods_; }

  // Gives the snapshot's jobs their records. Uses the same object for the same job, pod and plan, so that it
  // counts as a change only once. A pod made for a job that is gone is shown on the node where it may still
  // be bound, until it is bound or gone.
  void overlay(model::Snapshot& snapshot);

 private:
  using PodPtr = std::shared_ptr<const model::Pod>;
  struct Entry {
    model::Uid uid;  // of the job that `made` is for
    std::shared_ptr<const model::GangRecord> made = nullptr;
    base::WallTime madeAt{};
    // All bound pods that claim to be the job's, which any user can write. Name, owner and epoch decide which
    // one is. Others may belong to an earlier job of the same name.
    std::vector<PodPtr> bound = {};
    PodPtr lost = nullptr;  // the job's pod that was bound and is gone: the gang must restart
    struct {
      std::shared_ptr<const model::Job> from, to;
      const void* by = nullptr;  // pod or record
    } seenAs = {};
  };

  // A pod made for a job that is gone; no other record shows its node.
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
  // Returns false if the entry holds nothing more and can be erased.
  [[nodiscard]] bool apply(Entry& entry, std::shared_ptr<const model::Job>& job,
                           const model::Snapshot& snapshot) const;
  [[nodiscard]] model::GangRecord recordOf(const Entry& entry, const model::Job& job, const PodPtr& bound,
                                           const model::Snapshot& snapshot) const;

  kube::ClusterCache& cache_;
  core::Settings settings_;
  std::map<model::ObjectKey, Entry> entries_;  // by job
  std::vector<Orphan> orphans_;
  std::size_t unboundPods_ = 0;
};

}  // namespace trainyard::operator_
