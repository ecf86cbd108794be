#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::core {

// Equal for jobs that any placement question answers alike: the same members with the same requests and
// constraints, and the same wishes for locality. What pods do inside does not matter.
[[nodiscard]] std::string shapeKey(const model::Job& job);

// Equal only for pods that may use the same nodes, room aside.
[[nodiscard]] std::string constraintsKey(const model::PodShape& shape);

// Equal only for jobs whose members may use the same nodes, room aside; of a job with GPUs those members that
// have any.
[[nodiscard]] std::string poolKey(const model::Job& job);

}  // namespace trainyard::core
