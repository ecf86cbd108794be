#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "core/cycle.h"
#include "kube/api_client.h"
#include "net/server.h"
#include "operator/console/access.h"
#include "operator/console/callers.h"
#include "operator/console/job_requests.h"
#include "operator/console/live_facts.h"
#include "operator/console/streams.h"
#include "operator/console/trial_runner.h"
#include "operator/console/trials.h"

namespace trainyard::operator_::console {

// Serves the page's files to everyone, and the paths below /api to callers with a token: Streams, JobRequests
// and Trials. Requests of clients that have left are dropped. Returns 401 without a valid token. Returns 404
// both for objects that do not exist and for those that the caller may not see. Computes nothing while no
// client is connected. Lives on the executor's thread.
class Console {
 public:
  struct Dependencies {
    kube::ApiClient& api;  // for reviews and Events; writes nothing else
    base::Executor& executor;
    // The cluster as the operator sees it. Its callbacks run on `executor`.
    LiveFacts::Source snapshot;
    ConsoleOffload offload;
    core::Settings settings = {};
  };

  explicit Console(Dependencies dependencies);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void answer(net::ServerRequest request, std::shared_ptr<net::Exchange> exchange);

  [[nodiscard]] std::size_t streams() const { return streams_.size(); }

 private:
  Access access_;
  LiveFacts facts_;
  Callers callers_;
  TrialRunner runner_;
  Streams streams_;
  JobRequests jobs_;
  Trials trials_;
};

}  // namespace trainyard::operator_::console
