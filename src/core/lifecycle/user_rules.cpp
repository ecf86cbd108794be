#include "core/lifecycle/user_rules.h"

#include <algorithm>

namespace trainyard::core {
namespace {

bool matches(const model::PodFailureRule::ExitCodes& wanted, const model::PodFailure& failure) {
  return std::any_of(failure.containers.begin(), failure.containers.end(), [&](const auto& container) {
    if (!wanted.container.empty() && container.name != wanted.container) return false;
    const bool listed =
        std::find(wanted.values.begin(), wanted.values.end(), container.exitCode) != wanted.values.end();
    return listed == wanted.in;
  });
}

bool matches(const std::vector<model::PodFailureRule::PodCondition>& wanted,
             const model::PodFailure& failure) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const auto& each) {
    return std::any_of(failure.conditions.begin(), failure.conditions.end(), [&](const auto& condition) {
      return condition.type == each.type && condition.status == each.status;
    });
  });
}

}  // namespace

const model::PodFailureRule* matchRule(const model::FailurePolicy& policy, const std::string& role,
                                       const model::Pod& pod, PodEnd end) {
  if (pod.failure == nullptr) return nullptr;
  for (const model::PodFailureRule& rule : policy.rules) {
    const bool looksAt =
        rule.roles.empty() || std::find(rule.roles.begin(), rule.roles.end(), role) != rule.roles.end();
    if (!looksAt || (rule.exitCodes && end == PodEnd::kLost)) continue;
    if (rule.exitCodes ? matches(*rule.exitCodes, *pod.failure) : matches(rule.podConditions, *pod.failure))
      return &rule;
  }
  return nullptr;
}

}  // namespace trainyard::core
