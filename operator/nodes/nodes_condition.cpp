#include "operator/nodes/nodes_condition.h"

#include <string>
#include <utility>

#include "base/cut_text.h"
#include "base/plain_text.h"
#include "codec/job_status.h"
#include "kube/job_path.h"
#include "kube/paths.h"
#include "model/limits.h"
#include "model/set_condition.h"

namespace trainyard::operator_ {

void NodesCondition::write(const std::shared_ptr<const model::Job>& job, const core::NodesReport& report,
                           std::function<void(ConditionWrite)> done) {
  model::JobStatus status = job->status;
  model::setCondition(status.conditions, model::conditions::kNodesRequested,
                      report.asked ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse,
                      report.reason,
                      std::string(base::cutText(report.message, model::limits::kConditionMessage)),
                      executor_.wallNow(), job->generation);
  const auto patch = codec::encodeStatusPatch(*job, status);
  if (!patch) return done(ConditionWrite::kNotDone);
  api_.patch(kube::PatchType::kMerge, kube::jobPath(*job, "status"), *patch,
             [this, alive = alive_, job, report,
              done = std::move(done)](const base::Result<kube::ApiResponse>& answer) {
               if (!*alive) return;
               if (!answer)
                 return done(answer.error().code == base::ErrorCode::kNotFound ? ConditionWrite::kNoJob
                                                                               : ConditionWrite::kNotDone);
               cache_.jobs.applyWrite(answer->body);
               recordEvent(*job, report);
               done(ConditionWrite::kDone);
             });
}

// `job`: as it was before the write.
void NodesCondition::recordEvent(const model::Job& job, const core::NodesReport& report) {
  const model::Condition* before = job.condition(model::conditions::kNodesRequested);
  const bool sameReason = before != nullptr && before->reason == report.reason;
  if (report.isWarning) {
    metrics_.failed.increment();
    events_.record(job, {true, "NodesNotProvisioned", report.message});
  } else if (report.reason == "Provisioned" && !sameReason) {
    metrics_.provisioned.increment();
    events_.record(job, {false, "NodesProvisioned", report.message});
  } else if (report.asked && !sameReason) {
    events_.record(job, {false, "NodesRequested", report.message});
  }
}

bool isReported(const model::Job& job, const core::NodesReport& report) {
  const model::Condition* reported = job.condition(model::conditions::kNodesRequested);
  return reported != nullptr && (reported->status == model::ConditionStatus::kTrue) == report.asked &&
         reported->reason == report.reason &&
         reported->message ==
             base::cutText(base::plainText(report.message, false), model::limits::kConditionMessage);
}

}  // namespace trainyard::operator_
