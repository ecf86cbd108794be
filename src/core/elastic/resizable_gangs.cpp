#include "core/elastic/resizable_gangs.h"

#include <algorithm>
#include <utility>

#include "core/admission/admission.h"
#include "core/elastic/long_constraints.h"
#include "core/gang/gang_proposals.h"
#include "core/order/job_times.h"
#include "core/order/preemption_cost.h"
#include "core/place/work_budget.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = ResizableGangs::JobPtr;

// Other gangs give up members only for a gang that its queue allows to grow.
bool mayHaveMore(const Job& job, const QueueTree& queues) {
  return model::sameCharge(job, queues.requestedQueueOf(job)) &&
         !beyondLimit(queues, queues.queueOf(job), heldBy(queues.capacity(), job, lastMembers(job, 1)));
}

bool everChanges(const Job& job, const ResizeRequest& in) {
  const int has = elasticMembers(job);
  const int wish = desiredMembers(job);
  // core/elastic/user_scale.h handles growth up to the desired size.
  if (has < wish || (has == wish && job.spec.elastic->maxReplicas <= wish)) return false;
  // The present spec has not been admitted; core/elastic/user_scale.h reports that.
  if (!mayGetNewPods(job, in.snapshot, in.queues)) return false;
  // Giving members back later would cost the gang all its work.
  return resizeMethod(job.spec) != ResizeMethod::kByRestart || isCheckpointable(job.spec);
}

// Until when the gang keeps its size; nothing if it may change now.
std::optional<base::WallTime> restsUntil(const Job& job, const model::Snapshot& snapshot) {
  for (const auto& until : {std::optional(placedSince(job, snapshot.now) + snapshot.policy.resize.interval),
                            job.status.resize.cooldownUntil, backsOffUntil(job.status.gang, snapshot.now)}) {
    if (until && *until > snapshot.now) return until;
  }
  return std::nullopt;
}

std::set<std::string> longTemplates(const std::vector<JobPtr>& elastic, std::size_t nodes) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<ComparedTemplate> templates;
  for (const JobPtr& job : elastic) {
    const std::int64_t cost = lookCost(elasticRoleOf(*job).shape);
    if (cost > 0 && seen.emplace(job->key.ns, templateKey(*job)).second)
      templates.push_back({job->key.ns, templateKey(*job), cost});
  }
  return templates.empty() ? std::set<std::string>() : leftOut(std::move(templates), nodes);
}

}  // namespace

std::string templateKey(const Job& job) { return job.spec.templateHash + "/" + elasticRoleOf(job).name; }

bool ResizableGangs::isLeftOut(const Job& job) const {
  return !leftOut.empty() && leftOut.contains(templateKey(job));
}

ResizableGangs findResizable(const ResizeRequest& in) {
  std::vector<JobPtr> elastic;
  for (const JobPtr& job : in.gangs) {
    if (job->spec.elastic && resizable(*job) && !in.takesPart(*job)) elastic.push_back(job);
  }
  ResizableGangs found;
  found.elastic = elastic.size();
  found.leftOut = longTemplates(elastic, in.ledger.nodes().size());
  for (const JobPtr& job : elastic) {
    const int has = elasticMembers(*job);
    const int wish = desiredMembers(*job);
    const bool backsOff = backsOffUntil(job->status.gang, in.snapshot.now).has_value();
    if (has < wish && mayHaveMore(*job, in.queues) && !backsOff && !found.isLeftOut(*job))
      found.missing.push_back(job);
    if (!everChanges(*job, in)) continue;
    if (has > wish) found.surplus.push_back(job);
    const auto until = restsUntil(*job, in.snapshot);
    if (!until) found.mayChange.push_back(job);
    if (until && (!found.wakeAt || *until < *found.wakeAt)) found.wakeAt = until;
  }
  return found;
}

}  // namespace trainyard::core
