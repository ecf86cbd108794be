#pragma once

#include <string_view>

#include "base/error.h"
#include "model/job.h"

namespace trainyard::codec {

// Decodes a TrainingJob and fills in the defaults of its schema. An unusable spec is not an error of the
// call: it sets `Job.specError`, which names the field, so that the job exists and its status can report it.
// kInvalid names job and field; it is for metadata and status only, because no action is safe without them.
[[nodiscard]] base::Result<model::Job> decodeJob(std::string_view json);

// Decodes a TrainingJob or a Gang, by its name.
[[nodiscard]] base::Result<model::Job> decodeJobOrGang(std::string_view json);

}  // namespace trainyard::codec
