#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "model/run_times.h"

namespace trainyard::operator_ {

// Learns from succeeded jobs how long jobs of each kind run (core/order/run_times.h). Stores that in one
// ConfigMap, so that it outlives the jobs, which users delete, and the leader. Checks every minute, and
// writes every five minutes at most.
//
// Lives on the executor's loop; runs on the leader only.
class RunTimesKeeper {
 public:
  struct Options {
    std::string ns;
    std::string name = "trainyard-run-times";
  };
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    base::Logger log;
    std::function<void()> changed;  // new run times were learnt
  };

  RunTimesKeeper(Options options, Dependencies dependencies);
  ~RunTimesKeeper();
  RunTimesKeeper(const RunTimesKeeper&) = delete;
  RunTimesKeeper& operator=(const RunTimesKeeper&) = delete;

  void start();
  // The current run times, as an immutable object. Null as long as nothing was learnt.
  [[nodiscard]] std::shared_ptr<const model::RunTimes> current() const { return current_; }

 private:
  using Answer = base::Result<kube::ApiResponse>;

  void look();
  void learn();
  void read();
  void taken(const Answer& answer);
  void write();
  void written(const Answer& answer);
  void again();
  [[nodiscard]] kube::ApiCallback guarded(void (RunTimesKeeper::*then)(const Answer&));

  Options options_;
  Dependencies deps_;
  std::shared_ptr<const model::RunTimes> current_ = nullptr;
  std::string resourceVersion_;  // of the ConfigMap; empty: there is none
  bool known_ = false;           // the ConfigMap was read, and no write of it has failed since
  bool unwritten_ = false;
  base::Instant nextWrite_ = base::Instant::min();
  base::TimerId timer_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
