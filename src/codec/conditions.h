#pragma once

#include <vector>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/conditions.h"

namespace trainyard::codec {

// The list of metav1.Condition in a status.
[[nodiscard]] std::vector<model::Condition> readConditions(const Field& list);
// The member "conditions"; nothing without any.
void writeConditions(const std::vector<model::Condition>& conditions, JsonWriter& out);

}  // namespace trainyard::codec
