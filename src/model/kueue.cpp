#include "model/kueue.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/device_names.h"
#include "model/job.h"
#include "model/one_per_node.h"

namespace trainyard::model {
namespace {

const Condition* trueCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const Condition& each) {
    return each.type == type && each.status == ConditionStatus::kTrue;
  });
  return found == conditions.end() ? nullptr : &*found;
}

// What a node has once (a host port) is no resource of Kueue.
Resources extendedOf(const Resources& requests) {
  Resources extended;
  for (const auto& [name, amount] : requests.extendedAll()) {
    if (!isOnePerNode(name) && !isContest(name)) extended.setExtended(name, amount);
  }
  return extended;
}

// The message of a condition that is false; Kueue writes there what the Workload waits for.
std::string_view refusalOf(const KueueWorkload& workload) {
  const auto& conditions = workload.conditions;
  const auto found = std::find_if(conditions.begin(), conditions.end(), [](const Condition& each) {
    return each.type == "QuotaReserved" && each.status == ConditionStatus::kFalse;
  });
  return found == conditions.end() ? std::string_view() : std::string_view(found->message);
}

}  // namespace

bool KueueWorkload::hasQuota() const { return trueCondition(conditions, "QuotaReserved") != nullptr; }

bool KueueWorkload::isFinished() const { return trueCondition(conditions, "Finished") != nullptr; }

const Condition* KueueWorkload::eviction() const { return trueCondition(conditions, "Evicted"); }

bool KueueWorkload::mayRun() const {
  const bool isAdmitted = hasQuota() && trueCondition(conditions, "Admitted") != nullptr;
  return isAdmitted && eviction() == nullptr && !isFinished() && !deleting;
}

std::string kueueWorkloadName(const Job& job) {
  constexpr std::size_t kMaxLabel = 63;
  constexpr std::size_t kUidDigits = 8;
  constexpr std::string_view kPrefix = "trainingjob-";
  const std::string_view uid = std::string_view(job.uid.str()).substr(0, kUidDigits);
  const std::string_view name =
      std::string_view(job.key.name).substr(0, kMaxLabel - kPrefix.size() - kUidDigits - 1);
  return fmt::format("{}{}-{}", kPrefix, name, uid);
}

std::int64_t kueueCount(const Job& job, std::string_view role) {
  const Role* found = job.spec.findRole(role);
  if (found == nullptr) return 0;
  const auto& elastic = job.spec.elastic;
  return elastic && elastic->role == role ? std::max(elastic->maxReplicas, job.spec.startReplicas(*found))
                                          : found->replicas;
}

bool coversJob(const KueueWorkload& workload, const Job& job) {
  return std::equal(job.spec.roles.begin(), job.spec.roles.end(), workload.podSets.begin(),
                    workload.podSets.end(), [&](const Role& role, const KueueWorkload::PodSet& podSet) {
                      return role.name == podSet.name && kueueCount(job, role.name) == podSet.count &&
                             extendedOf(role.shape.requests) == extendedOf(podSet.requests);
                    });
}

std::string whyHeld(const Job& job, const KueueWorkload* workload) {
  if (job.spec.plan.automatic)
    return "spec.plan.mode Auto is not supported with Kueue: the job has no size yet";
  if (workload == nullptr) return "Kueue's Workload for this job does not exist yet";
  const std::string& name = workload->key.name;
  if (workload->controllerUid != job.uid)
    return fmt::format("Kueue's Workload {} is not the job's yet", name);
  if (!coversJob(*workload, job)) return fmt::format("Kueue's Workload {} does not describe this job", name);
  if (workload->mayRun()) return {};
  if (workload->deleting) return fmt::format("Kueue's Workload {} is being deleted", name);
  if (workload->isFinished()) return fmt::format("Kueue's Workload {} has finished", name);
  if (!workload->active) return fmt::format("Kueue's Workload {} is deactivated (spec.active: false)", name);
  if (const Condition* eviction = workload->eviction(); eviction != nullptr && workload->hasQuota())
    return fmt::format("Kueue evicted it: {}", eviction->message);
  if (workload->hasQuota())
    return fmt::format("Kueue has reserved quota; it waits for admission check {}", workload->pendingCheck);
  const std::string_view refusal = refusalOf(*workload);
  if (refusal.empty()) return fmt::format("waits in Kueue's LocalQueue {}", workload->queue);
  return fmt::format("waits in Kueue's LocalQueue {}: {}", workload->queue, refusal);
}

}  // namespace trainyard::model
