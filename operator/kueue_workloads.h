#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "kube/reflector.h"
#include "model/kueue.h"
#include "model/snapshot.h"

namespace trainyard::kube {

inline constexpr ResourceType kKueueWorkloads{"kueue.x-k8s.io", "v1beta2", "workloads"};
inline constexpr ResourceType kKueuePriorityClasses{"kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses",
                                                    false};

template <>
struct CacheTraits<model::KueueWorkload> {
  using Key = model::ObjectKey;
  static constexpr std::string_view kKind = "Workload";
  static const Key& keyOf(const model::KueueWorkload& workload) { return workload.key; }
  static Key keyOf(const codec::ObjectMeta& meta) { return {meta.ns, meta.name}; }
  static bool same(const model::KueueWorkload& before, const model::KueueWorkload& after) {
    return before.uid == after.uid && before.resourceVersion == after.resourceVersion;
  }
};

}  // namespace trainyard::kube

namespace trainyard::operator_ {

// The Workloads of Kueue that stand for TrainingJobs. Holds, in snapshots, each job that asks for quota until
// Kueue has admitted it. (Rejected: writing spec.run.suspend. Users and GitOps tools own the spec.)
// Assumes: Workloads of jobs have the label trainyard.dev/job-name, also those that MultiKueue copies.
class KueueWorkloads {
 public:
  using Pointer = std::shared_ptr<const model::KueueWorkload>;

  KueueWorkloads(kube::ClusterCache& cache, const base::Logger& log);
  KueueWorkloads(const KueueWorkloads&) = delete;
  KueueWorkloads& operator=(const KueueWorkloads&) = delete;

  void start(kube::ApiClient& api, base::Executor& executor, base::Rng& rng);
  void stop() { reflector_.reset(); }

  [[nodiscard]] kube::ObjectCache<model::KueueWorkload>& workloads() { return workloads_; }
  // False until the Workloads have been listed once: Kueue may be absent, or come later. Until then a job
  // that has begun to start is not held.
  [[nodiscard]] bool synced() const;
  // The Workload that the job names, or else its own; null if there is none.
  [[nodiscard]] Pointer of(const model::Job& job) const;
  // Call before overlays that depend on whether a job is suspended.
  void overlay(model::Snapshot& snapshot);

 private:
  using JobPtr = std::shared_ptr<const model::Job>;
  // What was decided about a job with this Workload. `held`: the job as it is shown; null if it is not held.
  struct Shown {
    JobPtr job;
    Pointer workload;
    JobPtr held;
  };

  [[nodiscard]] std::string whyHeld(const model::Job& job, const model::KueueWorkload* workload,
                                    const model::Snapshot& snapshot) const;
  [[nodiscard]] static Shown show(const Shown& before, const JobPtr& job, const Pointer& workload,
                                  std::string why);

  kube::ClusterCache& cluster_;
  base::Logger log_;
  kube::ObjectCache<model::KueueWorkload> workloads_;
  std::unique_ptr<kube::Reflector> reflector_;
  mutable bool synced_ = false;
  std::set<model::ObjectKey> jobs_;          // that ask for quota
  std::map<model::ObjectKey, Shown> shown_;  // the same object for the same job and reason
};

// Returns true if the job has, or is about to get, nodes or pods in this cluster.
[[nodiscard]] bool hasBegun(const model::Job& job, const model::SharedList<model::Pod>& pods);

}  // namespace trainyard::operator_
