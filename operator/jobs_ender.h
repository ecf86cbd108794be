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

// Deletes every TrainingJob and waits until all are gone: what comes before an uninstallation that takes the
// resource definitions away. The operator must still run, since it is what lets a job go once its pods have
// ended. Lives on the executor's loop.
class JobsEnder {
 public:
  // `done` is called once: success when no job is left, or their kind is not served at all; kUnavailable with
  // the names of some that were still there when `patience` was over.
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
