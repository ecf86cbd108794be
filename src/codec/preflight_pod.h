#pragma once

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/policy.h"

namespace trainyard::codec {

// Writes the container that runs the policy's check before all others of a member's pod. It has the resources
// and security context of the `first` container, so it gets the same GPUs and adds nothing to the pod's
// requests. It has none of its variables and volumes: a job's owner must not influence how a node is judged.
void writePreflightContainer(JsonWriter& out, const JsonValue& first, const model::Preflight& preflight);

}  // namespace trainyard::codec
