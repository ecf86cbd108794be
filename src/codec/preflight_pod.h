#pragma once

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/policy.h"

namespace trainyard::codec {

// The container that runs the policy's check, before all others of a member's pod. With resources and rights
// of its `first` container: so it sees the same GPUs, and asks for nothing that the pod did not ask for. None
// of that one's variables and volumes: what a job's owner writes there is not to decide how a node is judged.
void writePreflightContainer(JsonWriter& out, const JsonValue& first, const model::Preflight& preflight);

}  // namespace trainyard::codec
