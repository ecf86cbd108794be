#pragma once

#include <optional>

#include "codec/field.h"
#include "codec/json_writer.h"
#include "model/job.h"
#include "model/shape_plan.h"

namespace trainyard::codec {

// status.plan.
[[nodiscard]] std::optional<model::ShapePlan> readShapePlan(const Field& field);
void writeShapePlan(const model::ShapePlan& plan, JsonWriter& out);

// The spec as a job with spec.plan.mode Auto is to run: its roles, and where it starts if it is elastic, as
// large as planned. The object's own spec is never written.
void applyShapePlan(const model::ShapePlan& plan, model::JobSpec& spec);

}  // namespace trainyard::codec
