#pragma once

#include <string_view>

#include "base/error.h"
#include "model/owner_kinds.h"
#include "model/workload.h"

namespace trainyard::codec {

// Reads an object of this kind. kInvalid is for metadata only; what else cannot be read sets `error`.
[[nodiscard]] base::Result<model::Workload> decodeWorkload(const model::OwnerKind& kind,
                                                           std::string_view json);

// Reads a TrainJob and the JobSet that its controller makes of it, which lists its pods. kNotFound: that
// JobSet is not made yet, or not yet as the TrainJob wants it.
[[nodiscard]] base::Result<model::Workload> decodeWorkloadOfJobSet(const model::OwnerKind& kind,
                                                                   std::string_view json,
                                                                   std::string_view jobSet);

}  // namespace trainyard::codec
