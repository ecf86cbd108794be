#include "operator/kueue_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "codec/priority_class.h"
#include "codec/status.h"
#include "model/managed_by.h"
#include "model/set_condition.h"

namespace trainyard::operator_ {
namespace {

using base::ErrorCode;
using model::ConditionStatus;
using model::Job;
using model::KueueWorkload;

// After a request that failed, and while Kueue is not installed.
constexpr base::Instant::duration kAskLater = std::chrono::seconds(5);

bool namesWorkload(const Job& job) { return job.kueue && !job.kueue->workload.empty(); }

// The operator has created it.
bool isOwn(const Job& job, const KueueWorkload& workload) {
  return !namesWorkload(job) && workload.key.name == model::kueueWorkloadName(job);
}

// A job that another controller than MultiKueue runs is that controller's to queue. The size of one with
// spec.plan.mode Auto, and of one whose spec is invalid, is not known.
bool asksForQuota(const Job& job) {
  return job.kueue && !job.deleting && !job.spec.run.suspend && !job.spec.plan.automatic &&
         job.specError.empty() &&
         (!model::managedByOther(job) || job.spec.managedBy == model::kMultiKueueController);
}

// Kueue's scheduler puts a Workload back into its queue only if it was preempted, or lost its nodes. For the
// other reasons Kueue itself sets the condition Requeued to true later.
bool isRequeuedAtOnce(const model::Condition& eviction) {
  return eviction.reason == "Preempted" || eviction.reason == "NodeFailures";
}

// The conditions by which Kueue's integrations give quota back.
std::vector<model::Condition> conditionsOfRelease(const KueueWorkload& workload,
                                                  const model::Condition& eviction, base::WallTime now) {
  std::vector<model::Condition> conditions = workload.conditions;
  const auto set = [&](std::string_view type, bool holds, std::string_view reason, std::string message) {
    model::setCondition(conditions, type, holds ? ConditionStatus::kTrue : ConditionStatus::kFalse, reason,
                        std::move(message), now, workload.generation);
  };
  set("Requeued", isRequeuedAtOnce(eviction), eviction.reason, eviction.message);
  set("QuotaReserved", false, "Pending", eviction.message);
  set("Admitted", false, "NoReservation", "The workload has no reservation");
  return conditions;
}

std::vector<model::Condition> conditionsOfEnd(const KueueWorkload& workload, const Job& job,
                                              base::WallTime now) {
  std::vector<model::Condition> conditions = workload.conditions;
  const bool succeeded = job.conditionTrue(model::conditions::kSucceeded);
  const auto* end = job.condition(succeeded ? model::conditions::kSucceeded : model::conditions::kFailed);
  model::setCondition(conditions, "Finished", ConditionStatus::kTrue, succeeded ? "Succeeded" : "Failed",
                      end == nullptr ? std::string() : end->message, now, workload.generation);
  return conditions;
}

}  // namespace

KueueKeeper::KueueKeeper(Dependencies dependencies) : deps_(std::move(dependencies)) {
  deps_.cache.jobs.trainingJobs.onChange([this](const auto& before, const auto& after) {
    if (before && (!after || after->uid != before->uid)) removeOf(*before);
    mark((after ? after : before)->key);
  });
  deps_.workloads.workloads().onChange([this](const auto& before, const auto& after) {
    const KueueWorkload& workload = after ? *after : *before;
    mark({workload.key.ns, workload.job});
  });
  // The quota of an evicted job is given back when its last pod is gone.
  deps_.cache.pods.onChange([this](const auto& before, const auto& after) {
    if (!after && before->member) mark({before->key.ns, before->member->jobName});
  });
}

void KueueKeeper::start() {
  started_ = true;
  for (const auto& job : deps_.cache.jobs.trainingJobs.all()) mark(job->key);
}

void KueueKeeper::mark(const model::ObjectKey& job) {
  if (!started_) return;
  marked_.insert(job);
  if (std::exchange(scheduled_, true)) return;
  deps_.executor.post([this, alive = alive_] {
    if (*alive) reconcileMarked();
  });
}

void KueueKeeper::markLater(const model::ObjectKey& job, base::Instant::duration delay) {
  deps_.executor.postAfter(delay, [this, job, alive = alive_] {
    if (*alive) mark(job);
  });
}

void KueueKeeper::reconcileMarked() {
  scheduled_ = false;
  if (!deps_.leading()) return;
  for (const model::ObjectKey& key : std::exchange(marked_, {})) reconcile(key);
}

void KueueKeeper::reconcile(const model::ObjectKey& key) {
  if (busy_.contains(key)) return;  // done() marks it again
  const auto job = deps_.cache.jobs.trainingJobs.find(key);
  if (!job) return;
  if (!deps_.workloads.synced()) {
    if (job->kueue) markLater(key, kAskLater);
    return;
  }
  if (const auto workload = deps_.workloads.of(*job)) return reconcileWorkload(*job, *workload);
  if (!asksForQuota(*job) || namesWorkload(*job) || job->finished() || holdsNodes(*job)) return;
  askPriority(*job);
}

void KueueKeeper::reconcileWorkload(const Job& job, const KueueWorkload& workload) {
  if (workload.deleting) return;
  const bool isOwned = workload.controllerUid == job.uid;
  if (!isOwned && !workload.controllerUid.empty()) return;
  if (!isOwned) return patch(job, workload, {}, codec::encodeKueueOwner(workload, job));
  if (workload.isFinished()) return;
  const bool runsHere = !model::managedByOther(job);
  const base::WallTime now = deps_.executor.wallNow();
  if (job.finished()) {
    if (runsHere)
      patch(job, workload, "status",
            codec::encodeKueueStatus(workload, conditionsOfEnd(workload, job, now), false));
    return;
  }
  const bool isWanted = asksForQuota(job);
  const bool isOutdated =
      isWanted && (workload.queue != job.kueue->queue || !model::coversJob(workload, job));
  if (isOwn(job, workload) && (isOutdated || (!isWanted && !holdsNodes(job)))) return remove(job, workload);
  const model::Condition* eviction = workload.eviction();
  if (eviction == nullptr || !workload.hasQuota() || holdsNodes(job)) return;
  patch(job, workload, "status",
        codec::encodeKueueStatus(workload, conditionsOfRelease(workload, *eviction, now), true));
}

// A job that runs in another cluster holds none here. When its Workload gives its quota back, MultiKueue
// deletes it there.
bool KueueKeeper::holdsNodes(const Job& job) const {
  return !model::managedByOther(job) && hasBegun(job, deps_.cache.pods.all());
}

std::optional<codec::KueuePriority> KueueKeeper::podPriority(const Job& job) const {
  const std::string& name = job.spec.priorityClassName;
  for (const auto& each : deps_.cache.priorityClasses.all()) {
    if (name.empty() ? each->globalDefault : each->name == name)
      return codec::KueuePriority{"scheduling.k8s.io", "PriorityClass", each->name, each->value};
  }
  return std::nullopt;
}

void KueueKeeper::askPriority(const Job& job) {
  const std::string& name = job.kueue->priorityClass;
  if (name.empty()) return create(job, podPriority(job));
  busy_.insert(job.key);
  deps_.api.get(kube::kKueuePriorityClasses.object({}, name),
                [this, key = job.key, uid = job.uid, name, alive = alive_](const Answer& answer) {
                  if (!*alive) return;
                  const auto now = deps_.cache.jobs.trainingJobs.find(key);
                  if (!now || now->uid != uid || !now->kueue) return done(key, answer);
                  const auto found = answer ? codec::decodePriorityClass(answer->body)
                                            : base::Result<model::PriorityClass>(base::fail(answer.error()));
                  if (found)
                    return create(*now, codec::KueuePriority{"kueue.x-k8s.io", "WorkloadPriorityClass", name,
                                                             found->value});
                  if (found.error().code == ErrorCode::kNotFound)
                    refuse(*now, fmt::format("there is no WorkloadPriorityClass {}", name));
                  done(key, base::fail(found.error()));
                });
}

void KueueKeeper::create(const Job& job, const std::optional<codec::KueuePriority>& priority) {
  busy_.insert(job.key);
  const auto body = codec::encodeKueueWorkload(job, priority);
  if (!body) return done(job.key, base::fail(body.error()));
  deps_.api.create(kube::kKueueWorkloads.collection(job.key.ns), *body,
                   [this, key = job.key, alive = alive_](const Answer& answer) {
                     if (!*alive) return;
                     if (answer)
                       deps_.workloads.workloads().applyWrite(answer->body, kube::WriteKind::kCreate);
                     const auto now = deps_.cache.jobs.trainingJobs.find(key);
                     if (!answer && now && answer.error().code == ErrorCode::kInvalid)
                       refuse(*now, std::string(codec::serverMessage(answer.error())));
                     done(key, answer);
                   });
}

void KueueKeeper::patch(const Job& job, const KueueWorkload& workload, std::string_view subresource,
                        std::string body) {
  busy_.insert(job.key);
  deps_.api.patch(kube::PatchType::kMerge,
                  kube::kKueueWorkloads.object(workload.key.ns, workload.key.name, subresource),
                  std::move(body), [this, key = job.key, alive = alive_](const Answer& answer) {
                    if (!*alive) return;
                    if (answer) deps_.workloads.workloads().applyWrite(answer->body);
                    done(key, answer);
                  });
}

void KueueKeeper::remove(const Job& job, const KueueWorkload& workload) {
  busy_.insert(job.key);
  kube::DeleteOptions options;
  options.uid = workload.uid.str();
  deps_.api.remove(
      kube::kKueueWorkloads.object(workload.key.ns, workload.key.name), options,
      [this, key = job.key, gone = workload.key, uid = workload.uid, alive = alive_](const Answer& answer) {
        if (!*alive) return;
        if (answer) deps_.workloads.workloads().forget(gone, uid.str());
        done(key, answer);
      });
}

// The garbage collector would delete the Workload, too, but later: until then Kueue counts its quota.
void KueueKeeper::removeOf(const Job& gone) {
  if (!started_ || !deps_.leading()) return;
  const auto workload = deps_.workloads.of(gone);
  if (workload && workload->controllerUid == gone.uid && isOwn(gone, *workload)) remove(gone, *workload);
}

void KueueKeeper::refuse(const Job& job, const std::string& why) {
  deps_.events.record(job, {true, "WorkloadRefused", why});
}

// What changed meanwhile is looked at again at once; after a failure, later. Kueue writes the same object: a
// conflict is no failure to report.
void KueueKeeper::done(const model::ObjectKey& job, const Answer& answer) {
  busy_.erase(job);
  if (answer) return mark(job);
  const bool isUsual =
      answer.error().code == ErrorCode::kConflict || answer.error().code == ErrorCode::kNotFound;
  if (!isUsual)
    deps_.log.warning("Kueue's Workload of a job could not be written",
                      {{"namespace", job.ns}, {"name", job.name}, {"error", answer.error().message}});
  markLater(job, answer.error().code == ErrorCode::kConflict ? std::chrono::milliseconds(100) : kAskLater);
}

}  // namespace trainyard::operator_
