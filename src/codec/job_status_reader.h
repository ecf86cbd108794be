#pragma once

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// status of a TrainingJob. A gang record that cannot be understood is a complaint: acting on half of it could
// give places away twice. An unknown word in `pending` is not: it is for people, and the next cycle writes it
// anew.
[[nodiscard]] model::JobStatus readJobStatus(const Field& status);

}  // namespace trainyard::codec
