#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"

namespace trainyard::operator_ {

// Deletes every TrainingJob and waits until all are gone, as needed before an uninstallation that removes the
// CRDs. The operator must still run, since it removes a job's finalizer once the job's pods have ended. Lives
// on the executor's loop.
class JobsEnder {
 public:
  // Calls `done` once: success if no job is left or the kind is not served; kUnavailable with the names of
  // some remaining jobs when `patience` runs out.
  JobsEnder(kube::ApiClient& api, base::Executor& executor, base::Logger log, std::chrono::seconds patience,
            std::function<void(base::Result<void>)> done);
  ~JobsEnder();
  JobsEnder(const JobsEnder&) = delete;
  JobsEnder& operator=(const JobsEnder&) = delete;

  void start();

 private:
  void list();
  void take(const std::string& body);
  void again(std::string why);

  kube::ApiClient& api_;
  base::Executor& executor_;
  base::Logger log_;
  std::chrono::seconds patience_;
  base::Instant latest_{};
  std::function<void(base::Result<void>)> done_;
  std::set<std::string> asked_;  // uids
  base::TimerId timer_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
