#pragma once

#include "codec/json_writer.h"
#include "model/job.h"

namespace trainyard::codec {

// `"ownerReferences":[…]`: the job as controller. The garbage collector deletes what names a uid that is
// gone.
void writeOwnerReference(JsonWriter& out, const model::Job& job);

// `"name":value` for the labels that every object of the job carries.
void writeJobLabels(JsonWriter& out, const model::Job& job);

// The whole metadata of a Service or ConfigMap of the job.
void writeOwnedMetadata(JsonWriter& out, const model::Job& job, std::string_view name);

}  // namespace trainyard::codec
