#pragma once

#include <string_view>

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// The bound of lists of roles, as in the schema.
inline constexpr std::size_t kMaxRoles = 8;

// Reads the spec and fills in its defaults; complaints go to the field's errors. `job` is needed to check the
// names of its pods. `plan`, if not null, is the shape of a job with spec.plan.mode Auto.
[[nodiscard]] model::JobSpec readJobSpec(const Field& spec, const model::ObjectKey& job,
                                         const model::ShapePlan* plan);

// Reads the spec of a Gang. Its templates are those of pods that other controllers make: only what placing
// needs is read, and nothing in them is forbidden.
[[nodiscard]] model::JobSpec readGangSpec(const Field& spec, const model::ObjectKey& gang);

}  // namespace trainyard::codec
