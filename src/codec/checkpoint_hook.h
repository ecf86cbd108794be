#pragma once

#include <string>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/job.h"

namespace trainyard::codec {

// With checkpoint.mode HTTP, the first container of every pod gets a preStop hook. The kubelet calls the
// hook, waits for the answer within the pod's grace period, and only then sends SIGTERM. The hook therefore
// runs for every deletion, evictions and drains included, and needs neither a network route to the pod nor a
// credential. (Rejected: a POST by the operator. It would not be sent when another client deletes the pod,
// and every cluster's network policies would have to admit it.)
[[nodiscard]] bool asksOverHttp(const model::JobSpec& spec);

// Returns why the container cannot have the hook; empty if it can.
[[nodiscard]] std::string hookComplaint(const model::JobSpec& spec, const JsonValue& first);
// Writes the member `lifecycle` of the container: the template's own handlers and the hook.
void writeLifecycle(JsonWriter& out, const model::JobSpec& spec, const JsonValue& container);

}  // namespace trainyard::codec
