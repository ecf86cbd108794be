#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/environment.h"
#include "model/job.h"

namespace trainyard::codec {

// Writes the array `env` of a container: `environment` first, so that the container's own variables may refer
// to it. Variables that the container sets itself are left out: the user's value takes precedence. (Names
// from envFrom are not visible here.) `filesName` is the ConfigMap of Variable::fileKey.
void writeContainerEnv(JsonWriter& out, const JsonValue& container, const model::Environment& environment,
                       std::string_view filesName);

// The variables of `environment` that a container of the role's template sets itself, unique and sorted.
[[nodiscard]] std::vector<std::string> findOwnVariables(const model::Role& role,
                                                        const model::Environment& environment);

}  // namespace trainyard::codec
