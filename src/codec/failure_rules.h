#pragma once

#include <vector>

#include "codec/yaml_value.h"
#include "model/failure_rule.h"

namespace trainyard::codec {

// Reads a list of rules of the policy file, docs/failures.md. Complains about an unknown class or action, a
// pattern that is not a regular expression, a duplicate name, and a rule that would match everything.
void readFailureRules(const YamlField& field, std::vector<model::FailureRule>& into);

}  // namespace trainyard::codec
