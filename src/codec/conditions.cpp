#include "codec/conditions.h"

#include <cstdint>
#include <utility>

#include "base/time.h"
#include "codec/enum_names.h"

namespace trainyard::codec {

std::vector<model::Condition> readConditions(const Field& list) {
  std::vector<model::Condition> conditions;
  list.forEachElement([&](const Field& each) {
    model::Condition condition;
    condition.type = each["type"].required();
    condition.status =
        parseEnumName(kConditionStatuses, each["status"].text()).value_or(model::ConditionStatus::kUnknown);
    condition.reason = each["reason"].text();
    condition.message = each["message"].text();
    condition.lastTransition = each["lastTransitionTime"].time().value_or(base::WallTime{});
    condition.observedGeneration = each["observedGeneration"].integer(0, 0, INT64_MAX);
    conditions.push_back(std::move(condition));
  });
  return conditions;
}

void writeConditions(const std::vector<model::Condition>& conditions, JsonWriter& out) {
  if (conditions.empty()) return;
  out.key("conditions").beginArray();
  for (const model::Condition& condition : conditions) {
    out.beginObject()
        .member("type", condition.type)
        .member("status", enumName(kConditionStatuses, condition.status))
        .member("reason", condition.reason)
        .member("message", condition.message)
        .member("lastTransitionTime", base::formatTime(condition.lastTransition))
        .member("observedGeneration", condition.observedGeneration)
        .endObject();
  }
  out.endArray();
}

}  // namespace trainyard::codec
