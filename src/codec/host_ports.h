#pragma once

#include <vector>

#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "model/job.h"

namespace trainyard::codec {

[[nodiscard]] bool isOnHostNetwork(const JsonValue& podSpec);

// Ports that the operator gives to this member (model/given_ports.h) and that its pod has to declare as ports
// of the node: with hostNetwork, unless the template declares them or chooses its own by the variable.
// kube-scheduler and Trainyard then put no two pods with the same port on one node.
[[nodiscard]] std::vector<int> hostPortsToDeclare(const model::JobSpec& spec, const model::Role& role,
                                                  int index, const JsonValue& podSpec);

// The container's ports and these.
void writePorts(JsonWriter& out, const JsonValue& container, const std::vector<int>& ports);

// Adds to the shape of each role the ports that all of its members declare. A port of the first member alone
// is counted by its pod only: the barrier sees it there.
void countGivenPorts(model::JobSpec& spec);

}  // namespace trainyard::codec
