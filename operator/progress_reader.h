#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "core/lifecycle/life_signs.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "model/ids.h"
#include "operator/operator_metrics.h"

namespace trainyard::operator_ {

// Reads what running jobs report in their logs (docs/progress.md), and whether they still log anything.
//
// Bounded: ten requests a second over all jobs and four at once, each with a timeout. Neither thousands
// of jobs nor unresponsive kubelets cost more. At most eight members of a job are read, in turn,
// starting with the one that reports. The job that is due first is read first: every fifteen seconds if
// it reports or its reports are needed. Other jobs are read ever less often, down to every ten minutes.
// After a failed read the next member is tried; a failed read neither fails a job nor marks it as
// silent.
//
// Lives on the executor's loop and follows the cache's changes. Findings go into the next cycle and are
// dropped once the job's status contains them. Nothing is stored elsewhere: a new leader reads the logs
// again, which have timestamps.
class ProgressReader {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    OperatorMetrics& metrics;
    std::function<bool()> leading;
    std::function<void()> findings;  // the next cycle has something to write
  };

  explicit ProgressReader(Dependencies dependencies);
  ~ProgressReader();
  ProgressReader(const ProgressReader&) = delete;
  ProgressReader& operator=(const ProgressReader&) = delete;

  // Call once this replica leads.
  void start();
  // Returns findings that the jobs' statuses do not contain yet. A job's progress changes its status every
  // thirty seconds at most.
  [[nodiscard]] std::map<model::ObjectKey, core::LifeSign> findings();

 private:
  struct Candidate {
    model::ObjectKey pod;
    std::string container;
    std::optional<base::WallTime> seen = std::nullopt;  // time of its last line that was read
    std::size_t fingerprint = 0;
    bool read = false;
    base::Instant readAt = base::Instant::min();  // time of the last request that was answered
  };
  struct Watched {
    model::Uid uid;
    model::Placed placed;
    std::vector<Candidate> candidates = {};
    std::size_t next = 0;  // candidate
    model::Progress latest = {};
    bool reported = false;  // in this start
    base::WallTime lastSign{};
    std::optional<base::WallTime> silentSince = std::nullopt;
    core::StepRate rate = {};
    base::Instant due{};
    bool asking = false;
    int quiet = 0;  // reads in a row without a report
    int tailLines = 0;
    // The progress that the status shall show, and the earliest time of its next change.
    std::optional<model::Progress> offer = std::nullopt;
    base::Instant nextOffer = base::Instant::min();
  };
  using Jobs = std::map<model::ObjectKey, Watched>;
  using Answer = base::Result<kube::ApiResponse>;

  void jobChanged(const std::shared_ptr<const model::Job>& before,
                  const std::shared_ptr<const model::Job>& after);
  void watch(const model::Job& job);
  void forget(Jobs::iterator at);
  void schedule(const model::ObjectKey& key, Watched& watched, base::Instant due);
  void pump();
  void arm();
  void ask(const model::ObjectKey& key, Watched& watched);
  void answered(const model::ObjectKey& key, const model::Uid& uid, std::size_t candidate,
                base::Instant asked, const Answer& answer);
  void take(Watched& watched, Candidate& candidate, const std::string& log);
  void look(const model::Job& job, Watched& watched);
  [[nodiscard]] base::Instant nextLook(const model::Job& job, const Watched& watched) const;
  [[nodiscard]] bool differs(const model::Job& job, const Watched& watched) const;

  Dependencies deps_;
  Jobs jobs_;
  std::set<std::pair<base::Instant, model::ObjectKey>> queue_;
  std::set<model::ObjectKey> changed_;  // may have news
  std::size_t open_ = 0;
  base::Instant nextRequest_ = base::Instant::min();
  base::TimerId timer_{};
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
