#pragma once

#include <vector>

#include "codec/yaml_value.h"
#include "model/failure_rule.h"

namespace trainyard::codec {

// A list of rules as the policy file has them, docs/failures.md. Complains about an unknown class or action,
// a pattern that is no expression, a name that is there twice, a rule that would match everything.
void readFailureRules(const YamlField& field, std::vector<model::FailureRule>& into);

}  // namespace trainyard::codec
