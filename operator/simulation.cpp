#include "operator/simulation.h"

#include <utility>

#include "codec/admitted_pod.h"
#include "codec/shape_plan.h"
#include "core/ledger.h"
#include "core/planner.h"
#include "core/queues.h"
#include "operator/template_checks.h"

namespace trainyard::operator_ {
namespace {

using JobPtr = std::shared_ptr<const model::Job>;

void chooseShapes(const model::Snapshot& snapshot, std::vector<JobPtr>& jobs) {
  const core::Ledger ledger(snapshot);
  const core::QueueTree queues(snapshot);
  for (JobPtr& job : jobs) {
    if (!core::wantsShape(*job)) continue;
    auto shaped = std::make_shared<model::Job>(*job);
    shaped->specError = core::missingToPlan(*job);
    shaped->status.plan = core::decideShape(*job, ledger, queues, snapshot);
    codec::applyShapePlan(*shaped->status.plan, shaped->spec);
    job = std::move(shaped);
  }
}

}  // namespace

base::Result<void> takeAdmittedPod(std::string_view pod, std::string_view ns, model::Role& role) {
  auto admitted = codec::decodeAdmittedPod(pod, ns);
  if (!admitted) return base::fail(admitted.error());
  if (!equalForPlacement(*admitted, role.shape)) role.shape = std::move(*admitted);
  return {};
}

std::vector<core::Forecast> tryJobs(core::CycleInput input, std::vector<JobPtr> jobs) {
  chooseShapes(input.snapshot, jobs);
  return core::forecast(std::move(input), jobs);
}

}  // namespace trainyard::operator_
