#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "kube/events.h"
#include "model/queue.h"
#include "operator/job_events.h"
#include "operator/operator_options.h"

namespace trainyard::operator_ {

// Records Events in the API: of jobs, of queues and of the policy file.
class RecordedEvents final : public JobEvents {
 public:
  RecordedEvents(const OperatorOptions& options, kube::ApiClient& api, base::Executor& executor,
                 base::Logger log);
  ~RecordedEvents() override { *alive_ = false; }
  RecordedEvents(const RecordedEvents&) = delete;
  RecordedEvents& operator=(const RecordedEvents&) = delete;

  void record(const model::Job& job, const core::JobEvent& event) override;
  void recordOn(const codec::ObjectRef& object, const core::JobEvent& event) override;
  void recordReady(const model::Queue& queue, const model::Condition& ready);
  // The Event concerns the policy's ConfigMap, or the Lease if no ConfigMap has the policy.
  void recordPolicyRefused(const std::string& complaint);

 private:
  const OperatorOptions& options_;
  kube::ApiClient& api_;
  kube::EventRecorder recorder_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
