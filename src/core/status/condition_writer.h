#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/conditions.h"
#include "model/set_condition.h"

namespace trainyard::core {

// Sets the conditions of one status.
class ConditionWriter {
 public:
  ConditionWriter(std::vector<model::Condition>& conditions, base::WallTime now, std::int64_t generation)
      : conditions_(conditions), now_(now), generation_(generation) {}

  void set(std::string_view type, bool holds, std::string_view reason, std::string message) {
    model::setCondition(conditions_, type,
                        holds ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse, reason,
                        std::move(message), now_, generation_);
  }
  [[nodiscard]] bool holdsFor(std::string_view type, std::string_view reason) const {
    return std::any_of(conditions_.begin(), conditions_.end(), [&](const model::Condition& c) {
      return c.type == type && c.status == model::ConditionStatus::kTrue && c.reason == reason;
    });
  }
  [[nodiscard]] bool holds(std::string_view type) const {
    return std::any_of(conditions_.begin(), conditions_.end(), [&](const model::Condition& c) {
      return c.type == type && c.status == model::ConditionStatus::kTrue;
    });
  }
  // Sets the condition to false if it exists.
  void clear(std::string_view type, std::string_view reason, std::string message) {
    const bool known =
        std::any_of(conditions_.begin(), conditions_.end(), [&](const auto& c) { return c.type == type; });
    if (known) set(type, false, reason, std::move(message));
  }

 private:
  std::vector<model::Condition>& conditions_;
  base::WallTime now_;
  std::int64_t generation_;
};

}  // namespace trainyard::core
