#include "model/job.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/conditions.h"

namespace trainyard::model {

int JobSpec::startReplicas(const Role& role) const {
  return elastic && elastic->role == role.name ? elastic->replicas : role.replicas;
}

int JobSpec::totalReplicas() const {
  int total = 0;
  for (const Role& role : roles) total += startReplicas(role);
  return total;
}

bool JobSpec::mayHavePeers() const { return totalReplicas() > 1 || (elastic && elastic->maxReplicas > 1); }

const Role* JobSpec::findRole(std::string_view name) const {
  const auto at =
      std::find_if(roles.begin(), roles.end(), [&](const Role& role) { return role.name == name; });
  return at == roles.end() ? nullptr : &*at;
}

int Restarts::of(FailureClass failure) const {
  const auto at =
      std::find_if(byClass.begin(), byClass.end(), [&](const auto& e) { return e.first == failure; });
  return at == byClass.end() ? 0 : at->second;
}

void Restarts::add(FailureClass failure, bool counts) {
  if (counts) ++counted;
  const auto at = std::lower_bound(byClass.begin(), byClass.end(), failure,
                                   [](const auto& each, FailureClass wanted) { return each.first < wanted; });
  if (at != byClass.end() && at->first == failure) {
    ++at->second;
  } else {
    byClass.insert(at, {failure, 1});
  }
}

const Condition* Job::condition(std::string_view type) const {
  const auto at = std::find_if(status.conditions.begin(), status.conditions.end(),
                               [&](const Condition& condition) { return condition.type == type; });
  return at == status.conditions.end() ? nullptr : &*at;
}

bool Job::conditionTrue(std::string_view type) const {
  const Condition* found = condition(type);
  return found != nullptr && found->status == ConditionStatus::kTrue;
}

std::string_view Pending::reasonText() const {
  return reason == PendingReason::kOther ? std::string_view(otherReason) : toString(reason);
}

bool Job::finished() const {
  return conditionTrue(conditions::kSucceeded) || conditionTrue(conditions::kFailed);
}

std::string podName(std::string_view job, std::string_view role, int index) {
  return fmt::format("{}-{}-{}", job, role, index);
}

std::string memberHost(const Job& job, std::string_view role, int index) {
  if (!job.spec.mayHavePeers()) return "localhost";
  return fmt::format("{}.{}.{}.svc", podName(job.key.name, role, index), job.key.name, job.key.ns);
}

}  // namespace trainyard::model
