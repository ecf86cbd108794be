#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/queue.h"

namespace trainyard::codec {

// A map of quantities by resource name, as in spec.guaranteed and spec.limit of a Queue. Complains about
// names that no pod could ever be charged for, and about amounts that are negative, too large, or fractions
// of what comes in pieces. Fractions of a byte are dropped.
[[nodiscard]] model::Quota readQuota(const Field& map);

// An amount in a resource's own unit as people write it: "1500m", "512Gi", "32".
[[nodiscard]] std::string amountText(std::string_view resource, std::int64_t amount);

// The same map as numbers that people read: {"cpu":"1500m","memory":"512Gi","nvidia.com/gpu":"32"}.
void writeQuota(const model::Quota& quota, JsonWriter& out);

// The amounts of one pod, as a quota is written.
void writeAmounts(const model::Resources& amounts, JsonWriter& out);
[[nodiscard]] model::Resources readWrittenAmounts(const Field& map);

// What writeQuota() wrote. Amounts that do not fit into a quantity (byte seconds of months) are read too;
// what is no amount at all is complained about.
[[nodiscard]] model::Quota readWrittenQuota(const Field& map);

}  // namespace trainyard::codec
