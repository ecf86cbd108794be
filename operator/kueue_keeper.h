#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "codec/kueue_workload.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/job_events.h"
#include "operator/kueue_workloads.h"

namespace trainyard::operator_ {

// Keeps the Workload of each TrainingJob that asks for quota of Kueue, as Kueue's own integrations do for
// their kinds. Level-based: every step follows from what the caches show.
// Steps, for a job and its Workload:
//  0 create   one, if the job has none and holds no nodes: with the job as owner, and a podSet for each role
//  1 own      one that MultiKueue has created in this cluster before the job
//  2 remove   the operator's own one, if the job asks for another queue, other pods or no quota any more: the
//             job is held again, and the next Workload is created once its nodes are free
//  3 finish   it, when the job has ended; in the cluster of a job that runs elsewhere MultiKueue does
//  4 release  its quota, once an evicted job holds no nodes any more
// The Workload of a deleted job is deleted at once, or else by the garbage collector.
class KueueKeeper {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    KueueWorkloads& workloads;
    JobEvents& events;
    base::Logger log;
    std::function<bool()> leading;
  };

  explicit KueueKeeper(Dependencies dependencies);
  ~KueueKeeper() { *alive_ = false; }
  KueueKeeper(const KueueKeeper&) = delete;
  KueueKeeper& operator=(const KueueKeeper&) = delete;

  // Call when this replica starts to lead.
  void start();

 private:
  using Answer = base::Result<kube::ApiResponse>;

  void mark(const model::ObjectKey& job);
  void markLater(const model::ObjectKey& job, base::Instant::duration delay);
  void reconcileMarked();
  void reconcile(const model::ObjectKey& key);
  void reconcileWorkload(const model::Job& job, const model::KueueWorkload& workload);
  void askPriority(const model::Job& job);
  [[nodiscard]] std::optional<codec::KueuePriority> podPriority(const model::Job& job) const;
  void create(const model::Job& job, const std::optional<codec::KueuePriority>& priority);
  void patch(const model::Job& job, const model::KueueWorkload& workload, std::string_view subresource,
             std::string body);
  void remove(const model::Job& job, const model::KueueWorkload& workload);
  void removeOf(const model::Job& gone);
  void refuse(const model::Job& job, const std::string& why);
  void done(const model::ObjectKey& job, const Answer& answer);
  [[nodiscard]] bool holdsNodes(const model::Job& job) const;

  Dependencies deps_;
  std::set<model::ObjectKey> marked_;
  std::set<model::ObjectKey> busy_;
  bool scheduled_ = false;
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
