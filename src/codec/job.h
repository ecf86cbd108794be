#pragma once

#include <string_view>

#include "base/error.h"
#include "model/job.h"

namespace trainyard::codec {

// A TrainingJob, with the defaults of its schema filled in where they are absent. A spec that cannot be used
// is no failure but `Job.specError`, naming the field: the job exists, and its user must be told. kInvalid,
// naming job and field, is for metadata and status, without which nothing safe can be done with the job.
[[nodiscard]] base::Result<model::Job> decodeJob(std::string_view json);

}  // namespace trainyard::codec
