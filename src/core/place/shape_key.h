#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::core {

// Equal for jobs with the same answer to any placement request: the same members with the same requests and
// constraints, and the same locality. The pods' programs do not matter.
[[nodiscard]] std::string shapeKey(const model::Job& job);

// Equal only for pods that may use the same nodes, apart from free capacity.
[[nodiscard]] std::string constraintsKey(const model::PodShape& shape);

// Equal only for jobs with members that may use the same nodes, apart from free capacity. If a
// job has GPUs, only its members with GPUs count.
[[nodiscard]] std::string poolKey(const model::Job& job);

}  // namespace trainyard::core
