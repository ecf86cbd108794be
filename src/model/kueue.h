#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/conditions.h"
#include "model/ids.h"
#include "model/resources.h"

namespace trainyard::model {

struct Job;  // model/job.h

// The labels by which a TrainingJob asks Kueue for quota.
struct KueueRequest {
  std::string queue;               // the LocalQueue
  std::string workload = {};       // a Workload that exists already; empty: the operator creates one
  std::string priorityClass = {};  // a WorkloadPriorityClass; empty: the PriorityClass of the job counts
  friend bool operator==(const KueueRequest&, const KueueRequest&) = default;
};

// A Workload of Kueue that stands for a TrainingJob.
struct KueueWorkload {
  // One role of the job, as Kueue charges it.
  struct PodSet {
    std::string name;
    std::int64_t count = 0;
    Resources requests;  // of one pod
  };

  ObjectKey key;
  Uid uid;
  std::string resourceVersion;
  std::int64_t generation = 0;
  bool deleting = false;
  std::string job;    // the TrainingJob of the same namespace
  Uid controllerUid;  // empty: no object owns it yet
  std::string queue;
  bool active = true;  // false: Kueue evicts it, and does not admit it again
  std::vector<PodSet> podSets;
  std::vector<Condition> conditions;
  std::string pendingCheck = {};  // "NAME: MESSAGE" of an admission check that is not ready

  [[nodiscard]] bool hasQuota() const;
  [[nodiscard]] bool isFinished() const;
  // Null unless Kueue has evicted it and not reserved quota for it since.
  [[nodiscard]] const Condition* eviction() const;
  // Returns true if the job may run.
  [[nodiscard]] bool mayRun() const;
};

// The value of spec.managedBy of a job that MultiKueue runs in another cluster.
inline constexpr std::string_view kMultiKueueController = "kueue.x-k8s.io/multikueue";

// The name of the Workload that the operator creates for a job: at most 63 characters, because MultiKueue
// writes it into a label.
[[nodiscard]] std::string kueueWorkloadName(const Job& job);

// The pods of a role that Kueue charges: the most that an elastic role may have.
[[nodiscard]] std::int64_t kueueCount(const Job& job, std::string_view role);

// Returns true if Kueue charges what the job may use: each role with its number of pods and their extended
// resources. (Rejected: all requests. A job's memory grows after a pod ran out of it.)
[[nodiscard]] bool coversJob(const KueueWorkload& workload, const Job& job);

// Why the job may not run yet; empty if it may. `workload`: null if there is none for it.
[[nodiscard]] std::string whyHeld(const Job& job, const KueueWorkload* workload);

}  // namespace trainyard::model
