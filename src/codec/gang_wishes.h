#pragma once

#include "codec/field.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

// Writes into the spec of a Gang what the labels and annotations of a pod or an owner ask for it: queue,
// locality, preemptible, estimated duration. `podSpec`: names the PriorityClass.
void writeGangWishes(const Field& metadata, const Field& podSpec, JsonWriter& out);

}  // namespace trainyard::codec
