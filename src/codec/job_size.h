#pragma once

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// Complains about a job whose pods together are more than can be counted, written, or told to each other:
// before anybody makes room for it. Whatever it may grow to counts.
void checkJobSize(const Field& roles, const model::Job& job);

}  // namespace trainyard::codec
