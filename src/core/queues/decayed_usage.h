#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"
#include "model/queue.h"

namespace trainyard::core {

// What a queue has used, in resource seconds; the weight of past usage halves with every half-life. Assumes
// that it has held `held` since status.decayedAt. Zero if the status has no usage yet.
//
// A queue that has always held u has a usage of u * halfLife / ln 2. Divided by that factor it is the average
// usage, in the resource's own unit. Shares are compared by it instead of by what is held now.
[[nodiscard]] std::int64_t decayedUsage(const model::QueueStatus& status, std::string_view resource,
                                        std::int64_t held, base::WallTime now, std::chrono::seconds halfLife);
[[nodiscard]] std::int64_t averageUse(std::int64_t decayed, std::chrono::seconds halfLife);

}  // namespace trainyard::core
