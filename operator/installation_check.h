#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "net/http.h"

namespace trainyard::operator_ {

// Asks an installation whether it works, as `helm test` does: both kinds are served, an operator leads and
// renews its lease, the extender answers by TLS whoever has a client certificate. Asked again every second
// until all is well. Lives on the executor's loop.
class InstallationCheck {
 public:
  struct Target {
    std::string leaseNamespace;
    std::string leaseName = "trainyard-operator";
  };

  // `extender`: null where there is no client certificate to ask it with. `done` is called once: success, or
  // kUnavailable with what was not well when `patience` was over.
  InstallationCheck(Target target, kube::ApiClient& api, net::HttpClient* extender, base::Executor& executor,
                    base::Logger log, std::chrono::seconds patience,
                    std::function<void(base::Result<void>)> done);
  ~InstallationCheck();
  InstallationCheck(const InstallationCheck&) = delete;
  InstallationCheck& operator=(const InstallationCheck&) = delete;

  void start();

 private:
  // One thing that is asked; `judge` says what is wrong with the answer, or nothing.
  struct Question {
    std::string what;
    std::function<void(std::function<void(std::string problem)>)> ask;
  };
  void askNext();
  void answered(const std::string& problem);
  void addKind(std::string what, std::string path);
  void addLease();
  void addExtender();

  Target target_;
  kube::ApiClient& api_;
  net::HttpClient* extender_;
  base::Executor& executor_;
  base::Logger log_;
  std::chrono::seconds patience_;
  base::Instant latest_{};
  std::function<void(base::Result<void>)> done_;
  std::vector<Question> questions_;
  std::size_t next_ = 0;
  std::string renewed_;  // the lease's time as it was read first
  base::TimerId timer_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
