#include "simulation/service_laws.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "model/job.h"

namespace trainyard::simulation {
namespace {

using namespace std::chrono_literals;

// The grace period of the pods (objects.cpp), and the checkpoint time of a helper.
constexpr base::WallTime::duration kGrace = 7s;
// The slack that the page promises, plus the interval of the checks.
constexpr base::WallTime::duration kSlack = 10s + 500ms;

std::int64_t gpusOf(const model::Job& job, bool minimum) {
  std::int64_t gpus = 0;
  for (const model::Role& role : job.spec.roles) {
    const bool isElastic = job.spec.elastic && job.spec.elastic->role == role.name;
    const int members = minimum && isElastic ? job.spec.elastic->minReplicas : job.spec.startReplicas(role);
    gpus += role.shape.requests.gpus() * members;
  }
  return gpus;
}

bool isOfSingleGpus(const model::Job& job) {
  return std::all_of(job.spec.roles.begin(), job.spec.roles.end(),
                     [](const model::Role& role) { return role.shape.requests.gpus() == 1; });
}

// When the gang got its placement, regardless of later restarts.
std::optional<base::WallTime> beganAt(const model::Job& job) {
  const model::Condition* queued = job.condition(model::conditions::kQueued);
  if (queued == nullptr || queued->status != model::ConditionStatus::kFalse) return std::nullopt;
  return queued->lastTransition;
}

bool mayBeSuspended(const Scenario& scenario, const model::Job& job) {
  return std::any_of(scenario.troubles.begin(), scenario.troubles.end(), [&](const TroublePlan& trouble) {
    if (trouble.kind != Trouble::kSuspendJob && trouble.kind != Trouble::kSuspendStarting) return false;
    const JobPlan* plan = scenario.pickedJob(trouble.pick);
    return plan != nullptr && plan->name == job.key.name;
  });
}

}  // namespace

const QueuePlan* ServiceLaws::queueOf(const std::string& name) const {
  const auto found = std::find_if(scenario_.queues.begin(), scenario_.queues.end(),
                                  [&](const QueuePlan& plan) { return plan.name == name; });
  return found == scenario_.queues.end() ? nullptr : &*found;
}

bool ServiceLaws::isBelow(std::string queue, const std::string& above) const {
  while (queue != above) {
    const QueuePlan* plan = queueOf(queue);
    if (plan == nullptr || plan->parent.empty()) return false;
    queue = plan->parent;
  }
  return true;
}

std::int64_t ServiceLaws::heldBelow(const std::string& queue, const Job& but) const {
  std::int64_t gpus = 0;
  for (const auto& job : truth_.cache().jobs.all()) {
    const auto& gang = job->status.gang;
    if (job->uid == but.uid || job->finished() || !isBelow(job->spec.queue.str(), queue)) continue;
    if (!gang.placed && !gang.proposal) continue;
    // At most as many as its record may name.
    const std::int64_t most = std::max<std::int64_t>(gpusOf(*job, false), job->status.gpus);
    gpus += job->spec.elastic ? std::max<std::int64_t>(most, job->spec.elastic->maxReplicas) : most;
  }
  return gpus;
}

bool ServiceLaws::anyForeignPod() const {
  const auto& pods = truth_.cache().pods.all();
  return std::any_of(pods.begin(), pods.end(),
                     [](const auto& pod) { return !pod->member && !pod->finished(); });
}

bool ServiceLaws::waits(const Job& job) const {
  const auto& gang = job.status.gang;
  const auto plan = std::find_if(scenario_.jobs.begin(), scenario_.jobs.end(),
                                 [&](const JobPlan& each) { return each.name == job.key.name; });
  const bool anywhere = plan != scenario_.jobs.end() && plan->wish == NodeConstraint::kNone;
  // It waits for a closer placement than it will accept (docs/preemption.md, limits of the promises, 1).
  const auto& pending = job.status.pending;
  if (pending && (pending->reason == model::PendingReason::kWaitingForTopology ||
                  pending->message.find("; accepts ") != std::string::npos))
    return false;
  return anywhere && !job.finished() && !job.deleting && !job.spec.run.suspend && !gang.placed &&
         !gang.backoff && job.spec.locality.required.empty() && isOfSingleGpus(job);
}

bool ServiceLaws::isGuaranteed(const Job& job) const {
  const QueuePlan* queue = queueOf(job.spec.queue.str());
  if (queue == nullptr || queue->guaranteed == 0 || !queue->reclaim || !queue->parent.empty()) return false;
  return heldBelow(queue->name, job) + gpusOf(job, true) <= queue->guaranteed;
}

std::optional<base::WallTime> ServiceLaws::holdsSince(const Job& job) const {
  const auto& pending = job.status.pending;
  if (!pending || !pending->reservedSince || scenario_.policy.ordering != model::Ordering::kFifo)
    return std::nullopt;
  // A job that is resumed has a new reservation; a lost write may leave the earlier time in its status.
  if (mayBeSuspended(scenario_, job)) return std::nullopt;
  const QueuePlan* queue = queueOf(job.spec.queue.str());
  if (queue != nullptr && (!queue->withinQueue || queue->limit || !queue->parent.empty()))
    return std::nullopt;
  base::WallTime since = *pending->reservedSince;
  for (const auto& each : truth_.cache().jobs.all()) {
    if (each->uid == job.uid || each->finished()) continue;
    const auto& gang = each->status.gang;
    // The guarantee is uncertain if another job exists that an ordering may serve first.
    const bool isAlike = each->spec.queue == job.spec.queue &&
                         each->spec.priorityClassName == job.spec.priorityClassName && each->spec.preemptible;
    // What comes first in the queue has to end before.
    if (!isAlike || each->created <= job.created) return std::nullopt;
    if (!gang.placed && !gang.proposal) continue;
    const auto began = beganAt(*each);
    if (!began || *began <= *pending->reservedSince) return std::nullopt;
    since = std::max(since, *began);
  }
  return since;
}

void ServiceLaws::look(base::WallTime now) {
  const auto keep = [&](auto& known, const Job& job, std::optional<base::WallTime> since) {
    if (!since) {
      known.erase(job.uid);
      return now;
    }
    const auto [at, isNew] = known.try_emplace(job.uid, now);
    at->second = std::max(at->second, *since);
    return at->second;
  };
  const model::Policy& policy = scenario_.policy;
  const base::WallTime::duration minimum = policy.preemption.minRuntime;
  const base::WallTime::duration most =
      std::max<base::WallTime::duration>(minimum, policy.backfill.reservationLimit);
  const bool isQuiet = !anyForeignPod();
  for (const auto& job : truth_.cache().jobs.all()) {
    const bool asks = isQuiet && waits(*job);
    const base::WallTime guaranteed =
        keep(guaranteedSince_, *job, asks && isGuaranteed(*job) ? std::optional(job->created) : std::nullopt);
    if (now - guaranteed > minimum + kGrace + kSlack) {
      violated_(fmt::format("job {} is within its queue's guarantee and has waited for {} ms", job->key,
                            std::chrono::duration_cast<std::chrono::milliseconds>(now - guaranteed).count()));
      guaranteedSince_.erase(job->uid);
    }
    const base::WallTime held = keep(heldSince_, *job, asks ? holdsSince(*job) : std::nullopt);
    if (now - held > most + 2 * kGrace + kSlack) {
      violated_(fmt::format("job {} has a reservation and has waited for {} ms since the last start",
                            job->key,
                            std::chrono::duration_cast<std::chrono::milliseconds>(now - held).count()));
      heldSince_.erase(job->uid);
    }
  }
}

}  // namespace trainyard::simulation
