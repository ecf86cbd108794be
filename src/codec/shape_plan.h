#pragma once

#include <optional>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/job.h"
#include "model/shape_plan.h"

namespace trainyard::codec {

// Read and write status.plan.
[[nodiscard]] std::optional<model::ShapePlan> readShapePlan(const Field& field);
void writeShapePlan(const model::ShapePlan& plan, JsonWriter& out);

// Turns the spec into the one that a job with spec.plan.mode Auto runs: the planned roles, and the planned
// initial size if it is elastic. The object's own spec is never written.
void applyShapePlan(const model::ShapePlan& plan, model::JobSpec& spec);

}  // namespace trainyard::codec
