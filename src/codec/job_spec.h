#pragma once

#include <string_view>

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// The spec with its defaults; complaints go to the field's errors. `job` is needed to judge the pods' names;
// `plan`, where there is one, is the shape of a job with spec.plan.mode Auto.
[[nodiscard]] model::JobSpec readJobSpec(const Field& spec, const model::ObjectKey& job,
                                         const model::ShapePlan* plan);

}  // namespace trainyard::codec
