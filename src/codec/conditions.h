#pragma once

#include <vector>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/conditions.h"

namespace trainyard::codec {

// Reads the list of metav1.Condition in a status.
[[nodiscard]] std::vector<model::Condition> readConditions(const Field& list);
// Writes the member "conditions"; writes nothing if the list is empty.
void writeConditions(const std::vector<model::Condition>& conditions, JsonWriter& out);

}  // namespace trainyard::codec
