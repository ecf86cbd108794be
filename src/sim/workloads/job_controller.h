#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/api_client.h"
#include "kube/reflector.h"
#include "sim/workloads/indexed_job.h"
#include "sim/workloads/owned_pod.h"

namespace trainyard::sim {

// Kubernetes' controller of Jobs, for completionMode Indexed:
// - a suspended Job has no pods: they are deleted, and count as nothing
// - an index without a pod that runs or has succeeded gets one, a second after the last failure
// - a pod that fails, or that others delete while its Job is not suspended, is a failure. More than
//   backoffLimit fail the Job: its pods are deleted
// - a Job is complete when all indices have succeeded
// Annotation sim.trainyard.dev/creates: in-order: a pod is created once the one before it runs, as
// mpi-operator and JobSet do with some roles.
class JobController {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Rng rng;
    base::Logger log;
  };

  explicit JobController(Dependencies dependencies);
  ~JobController() { *alive_ = false; }
  JobController(const JobController&) = delete;
  JobController& operator=(const JobController&) = delete;

  void start();

 private:
  using JobPtr = std::shared_ptr<const IndexedJob>;
  using PodPtr = std::shared_ptr<const OwnedPod>;
  // What has happened to a Job. The controller does not crash, so this need not be in the Job's status.
  struct Progress {
    std::set<model::Uid> counted;  // pods that have failed, or were deleted by the controller
    std::set<int> succeeded;
    std::set<int> creating;
    int failed = 0;
    base::Instant createsFrom{};
    std::optional<base::WallTime> startTime = std::nullopt;
    std::string status;  // as it was last written
    bool looks = false;  // a look is scheduled
  };

  void podChanged(const PodPtr& before, const PodPtr& after);
  void countFailure(const OwnedPod& pod);
  void lookLater(const model::Uid& job, base::Instant::duration delay);
  void look(const model::Uid& uid);
  void runJob(const IndexedJob& job, Progress& progress);
  void createPods(const IndexedJob& job, Progress& progress);
  void createPod(const IndexedJob& job, Progress& progress, int index);
  void removePods(const IndexedJob& job, Progress& progress, int fromIndex);
  void writeStatus(const IndexedJob& job, Progress& progress, std::string_view end);
  [[nodiscard]] JobPtr jobOf(const model::Uid& uid) const;
  [[nodiscard]] std::vector<PodPtr> activePods(const model::Uid& job) const;

  Dependencies deps_;
  kube::ObjectCache<IndexedJob> jobs_;
  kube::ObjectCache<OwnedPod> pods_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::map<model::Uid, Progress> progress_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::sim
