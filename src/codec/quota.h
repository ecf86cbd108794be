#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/queue.h"

namespace trainyard::codec {

// Reads a map of quantities by resource name, as in spec.guaranteed and spec.limit of a Queue. Complains
// about names that no pod can be charged for, and about amounts that are negative, too large, or fractions of
// an indivisible resource. Fractions of a byte are dropped.
[[nodiscard]] model::Quota readQuota(const Field& map);

// Formats an amount in the resource's usual unit: "1500m", "512Gi", "32".
[[nodiscard]] std::string amountText(std::string_view resource, std::int64_t amount);

// Writes the quota as readable quantities: {"cpu":"1500m","memory":"512Gi","nvidia.com/gpu":"32"}.
void writeQuota(const model::Quota& quota, JsonWriter& out);

// Writes the amounts of one pod in the format of a quota.
void writeAmounts(const model::Resources& amounts, JsonWriter& out);
[[nodiscard]] model::Resources readWrittenAmounts(const Field& map);

// Reads what writeQuota() wrote. Amounts that exceed a quantity (byte seconds of months) are read too; text
// that is not an amount is a complaint.
[[nodiscard]] model::Quota readWrittenQuota(const Field& map);

}  // namespace trainyard::codec
