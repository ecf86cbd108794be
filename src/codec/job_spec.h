#pragma once

#include <string_view>

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// The spec with its defaults; complaints go to the field's errors. `job` is needed to judge the pods' names.
[[nodiscard]] model::JobSpec readJobSpec(const Field& spec, const model::ObjectKey& job);

}  // namespace trainyard::codec
