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
#include "operator/installation_question.h"

namespace trainyard::operator_ {

// Checks whether an installation works, as `helm test` does. Both kinds must be served, an operator must lead
// and renew its lease, and the extender must answer a client with a certificate over TLS. Repeats each check
// every second until it succeeds. Lives on the executor's loop.
class InstallationCheck {
 public:
  struct Target {
    std::string leaseNamespace;
    std::string leaseName = "trainyard-operator";
  };

  // `extender` is null if there is no client certificate for it. Calls `done` once: success, or kUnavailable
  // with what was wrong when `patience` ran out.
  InstallationCheck(const Target& target, kube::ApiClient& api, net::HttpClient* extender,
                    base::Executor& executor, base::Logger log, std::chrono::seconds patience,
                    std::function<void(base::Result<void>)> done);
  ~InstallationCheck();
  InstallationCheck(const InstallationCheck&) = delete;
  InstallationCheck& operator=(const InstallationCheck&) = delete;

  void start();

 private:
  void askNext();
  void answered(const std::string& problem);

  base::Executor& executor_;
  base::Logger log_;
  std::chrono::seconds patience_;
  base::Instant latest_{};
  std::function<void(base::Result<void>)> done_;
  std::vector<InstallationQuestion> questions_;
  std::size_t next_ = 0;
  base::TimerId timer_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
