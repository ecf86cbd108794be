#include "model/set_condition.h"

#include <algorithm>

#include "base/cut_text.h"
#include "base/plain_text.h"
#include "model/limits.h"

namespace trainyard::model {

void setCondition(std::vector<model::Condition>& conditions, std::string_view type,
                  model::ConditionStatus status, std::string_view reason, std::string message,
                  base::WallTime now, std::int64_t generation) {
  auto at = std::find_if(conditions.begin(), conditions.end(), [&](const auto& c) { return c.type == type; });
  if (at == conditions.end()) {
    conditions.push_back({std::string(type), status, {}, {}, now, generation});
    at = std::prev(conditions.end());
  }
  if (at->status != status) at->lastTransition = now;
  at->status = status;
  at->reason = reason;
  message = base::plainText(message, false);
  message.resize(base::cutText(message, limits::kConditionMessage).size());
  at->message = std::move(message);
  at->observedGeneration = generation;
}

void removeCondition(std::vector<model::Condition>& conditions, std::string_view type) {
  std::erase_if(conditions, [&](const auto& c) { return c.type == type; });
}

}  // namespace trainyard::model
