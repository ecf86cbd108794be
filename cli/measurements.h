#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "model/model_profile.h"

namespace trainyard::cli {

// Measured training steps, one a row. Columns, identified by their names:
//  placement     workers on each node: a digit a node ("22", "4"), sizes joined by + ("8+8", "12+4"), or
//                WORKERSxNODES ("16x1")
//  batch         samples of one worker in a step; also batch_per_worker, local_bsz
//  step_seconds  duration of the step; also step_time
//  servers       parameter servers on nodes of their own; optional
//  gpu_type      optional
// Other columns are ignored. kInvalid names file, line and column.
[[nodiscard]] base::Result<std::vector<model::MeasuredStep>> parseMeasurements(const std::string& text,
                                                                               const std::string& file);

}  // namespace trainyard::cli
