#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/field.h"
#include "model/model_profile.h"

namespace trainyard::codec {

// spec.plan.model, or a profile in a file of its own: docs/planner.md. An unknown field, and what cannot be
// (no operations, negative bytes, more than 10^14 parameters, a tensor larger than all of them), is a
// complaint that names it. What `name` tells of a well-known model stands where nothing is written.
[[nodiscard]] model::ModelProfile readModelProfile(const Field& field);

// The same out of a text; errors begin with `file`.
[[nodiscard]] base::Result<model::ModelProfile> decodeModelProfile(std::string_view json,
                                                                   const std::string& file);

// As it would be written into a file; what is not known is left out.
[[nodiscard]] std::string encodeModelProfile(const model::ModelProfile& profile);

}  // namespace trainyard::codec
