#include "core/lifecycle/failure_rules.h"

namespace trainyard::core {

std::vector<model::FailureRule> builtInRules() {
  Rules rules;
  addPodRules(rules);
  addGpuRules(rules);
  addNetworkRules(rules);
  addProgramRules(rules);
  addStorageRules(rules);
  addLineRules(rules);
  return rules;
}

}  // namespace trainyard::core
