#pragma once

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// Complains about a job if its pods together exceed what can be counted, written or passed to its members.
// The check precedes any preemption for the job, and uses the largest size that the job may grow to.
void checkJobSize(const Field& roles, const model::Job& job);

}  // namespace trainyard::codec
