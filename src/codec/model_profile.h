#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/field.h"
#include "model/model_profile.h"

namespace trainyard::codec {

// Reads spec.plan.model, or a profile in its own file: docs/planner.md. Complaints name unknown fields and
// impossible values: no operations, negative bytes, more than 10^14 parameters, a tensor larger than all of
// them. Absent fields get the values of the well-known model in `name`.
[[nodiscard]] model::ModelProfile readModelProfile(const Field& field);

// As readModelProfile(), from a text; errors begin with `file`.
[[nodiscard]] base::Result<model::ModelProfile> decodeModelProfile(std::string_view json,
                                                                   const std::string& file);

}  // namespace trainyard::codec
