#pragma once

#include "codec/field.h"
#include "model/job.h"

namespace trainyard::codec {

// Reads the metadata of a TrainingJob or a Gang.
void readJobMetadata(const Field& meta, model::Job& job);

}  // namespace trainyard::codec
