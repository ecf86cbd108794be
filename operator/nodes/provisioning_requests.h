#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/nodes_request_cache.h"
#include "kube/reflector.h"
#include "model/job.h"
#include "operator/nodes/api_calls.h"
#include "operator/nodes/found_request.h"

namespace trainyard::operator_ {

// Requests by objects ProvisioningRequest: finds out which version of their API the cluster serves, watches
// those of jobs, and makes and removes them.
class ProvisioningRequests {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    base::Logger log;
    std::function<base::Rng()> rng;  // called only when it is needed
    std::function<void()> changed;   // ready() or the requests may have changed
  };
  // The newest request of each job, by the job's namespace and uid.
  using Newest = std::map<std::pair<std::string, model::Uid>, std::shared_ptr<const model::NodesRequest>>;

  explicit ProvisioningRequests(Dependencies dependencies);
  ~ProvisioningRequests() { *alive_ = false; }
  ProvisioningRequests(const ProvisioningRequests&) = delete;
  ProvisioningRequests& operator=(const ProvisioningRequests&) = delete;

  // Returns true if the existing requests have been read. If requests are made by this API, looks for it.
  [[nodiscard]] bool ready(bool isUsed);
  // The cluster does not have the API.
  [[nodiscard]] bool isApiAbsent() const { return api_ == Api::kAbsent; }

  [[nodiscard]] Newest newest() const;
  // kInvalid: a template of the job cannot be requested.
  [[nodiscard]] base::Result<ApiCalls> creation(const std::shared_ptr<const model::Job>& job, int attempt,
                                                const model::ProvisioningPolicy& policy);
  [[nodiscard]] ApiCalls removal(const model::Job& job, const FoundRequest& found);
  // After its removal, before the watch reports it.
  void forget(const FoundRequest& found);

 private:
  enum class Api { kUnknown, kBeingLookedFor, kAbsent, kV1, kV1Beta1 };

  void lookForApi(Api version);
  void apiFound(Api version);
  [[nodiscard]] const kube::ResourceType& type() const;

  Dependencies deps_;
  kube::ObjectCache<model::NodesRequest> requests_;
  std::unique_ptr<kube::Reflector> reflector_;
  Api api_ = Api::kUnknown;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
