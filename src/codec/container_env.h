#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/environment.h"
#include "model/job.h"

namespace trainyard::codec {

// The array `env` of a container: `environment` ahead of the container's own variables, so that those may
// refer to it, less what the container sets itself: he who wrote that knows his program. (What it takes from
// envFrom does not win: its names are not seen here.) `filesName` is the ConfigMap of Variable::fileKey.
void writeContainerEnv(JsonWriter& out, const JsonValue& container, const model::Environment& environment,
                       std::string_view filesName);

// Variables of `environment` that a container of the role's template sets itself, each once, sorted.
[[nodiscard]] std::vector<std::string> findOwnVariables(const model::Role& role,
                                                        const model::Environment& environment);

}  // namespace trainyard::codec
