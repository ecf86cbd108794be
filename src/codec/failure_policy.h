#pragma once

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// Reads spec.failure. `spec`: with its roles, which rules may name.
[[nodiscard]] model::FailurePolicy readFailure(const Field& field, const model::JobSpec& spec);

}  // namespace trainyard::codec
