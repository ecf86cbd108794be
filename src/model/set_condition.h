#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/conditions.h"
#include "model/job.h"

namespace trainyard::model {

// Sets one condition by the rules of metav1: lastTransitionTime changes only with the status.
void setCondition(std::vector<model::Condition>& conditions, std::string_view type,
                  model::ConditionStatus status, std::string_view reason, std::string message,
                  base::WallTime now, std::int64_t generation);

void removeCondition(std::vector<model::Condition>& conditions, std::string_view type);

}  // namespace trainyard::model
