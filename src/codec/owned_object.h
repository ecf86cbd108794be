#pragma once

#include "codec/json_writer.h"
#include "model/job.h"

namespace trainyard::codec {

// Writes `"ownerReferences":[…]` with the job as controller. The garbage collector deletes an object after
// its owner's uid is gone.
void writeOwnerReference(JsonWriter& out, const model::Job& job);

// Writes `"name":value` for the labels that every object of the job has.
void writeJobLabels(JsonWriter& out, const model::Job& job);

// Writes the whole metadata of a Service or ConfigMap of the job.
void writeOwnedMetadata(JsonWriter& out, const model::Job& job, std::string_view name);

}  // namespace trainyard::codec
