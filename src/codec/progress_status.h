#pragma once

#include <optional>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/progress.h"

namespace trainyard::codec {

// Writes and reads status.progress.
void writeProgress(const model::Progress& progress, JsonWriter& out);
[[nodiscard]] std::optional<model::Progress> readProgress(const Field& field);

}  // namespace trainyard::codec
