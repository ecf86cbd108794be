#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"
#include "model/queue.h"

namespace trainyard::core {

// What a queue has used, older use counting less: resource seconds, halved every half-life. Carried on as if
// it had held `held` ever since status.decayedAt; nothing before a first look.
//
// A queue that always held u comes to u * halfLife / ln 2, so dividing by that gives its use on average, in
// the resource's own unit: what shares are compared by instead of what is held at this moment.
[[nodiscard]] std::int64_t decayedUsage(const model::QueueStatus& status, std::string_view resource,
                                        std::int64_t held, base::WallTime now, std::chrono::seconds halfLife);
[[nodiscard]] std::int64_t averageUse(std::int64_t decayed, std::chrono::seconds halfLife);

}  // namespace trainyard::core
