#pragma once

#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// After members once exhausted the memory of a host, new members get one and a half times the memory:
// requests and limits of containers and pods, in the templates and in the counted shapes. All roles are
// raised, because the record does not keep the role that failed. A job with an unusable spec is not changed.
void giveMoreMemory(model::Job& job);

}  // namespace trainyard::codec
