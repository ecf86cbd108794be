#pragma once

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// Reads the status of a TrainingJob. A gang record that cannot be parsed is a complaint: acting on a part of
// it could assign nodes twice. An unknown value in `pending` is accepted: it is only for people, and the next
// cycle overwrites it.
[[nodiscard]] model::JobStatus readJobStatus(const Field& status);

}  // namespace trainyard::codec
