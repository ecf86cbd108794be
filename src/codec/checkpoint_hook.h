#pragma once

#include <string>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/job.h"

namespace trainyard::codec {

// checkpoint.mode HTTP: the first container of every pod gets a preStop hook, by which the kubelet asks it to
// save its state, waits for the answer as long as the pod's grace period lasts, and only then sends SIGTERM.
// So it is asked whoever ends the pod, an eviction and a drained node included, and nobody needs a way
// through the network to it or a credential. (Lost: a POST by the operator. It would not be sent where
// somebody else ends the pod, and every cluster's network policies would have to let it in.)
[[nodiscard]] bool asksOverHttp(const model::JobSpec& spec);

// Why the container cannot have the hook; empty where it can.
[[nodiscard]] std::string hookComplaint(const model::JobSpec& spec, const JsonValue& first);
// Member `lifecycle` of the container: the template's own, and the hook.
void writeLifecycle(JsonWriter& out, const model::JobSpec& spec, const JsonValue& container);

}  // namespace trainyard::codec
