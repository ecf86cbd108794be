#pragma once

#include <vector>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/job.h"

namespace trainyard::codec {

[[nodiscard]] bool isOnHostNetwork(const JsonValue& podSpec);

// Returns the ports that the operator assigns to this member (model/framework_ports.h) and that its pod must
// declare as hostPort. They are needed with hostNetwork, unless the template declares them or sets the
// variable itself. kube-scheduler and Trainyard then never place two pods with the same port on one node.
[[nodiscard]] std::vector<int> hostPortsToDeclare(const model::JobSpec& spec, const model::Role& role,
                                                  int index, const JsonValue& podSpec);

// Writes the container's own ports and the given ones.
void writePorts(JsonWriter& out, const JsonValue& container, const std::vector<int>& ports);

// Adds the ports that all members of a role declare to the role's shape. A port of the first member alone is
// counted with its pod only, where the barrier checks it.
void countFrameworkPorts(model::JobSpec& spec);

}  // namespace trainyard::codec
