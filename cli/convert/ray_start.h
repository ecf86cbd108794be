#pragma once

#include <string>

#include "cli/convert/value.h"

// The commands of Ray's containers, as KubeRay writes them; only converters include this file.
namespace trainyard::cli {

// Returns "ray start --head --dashboard-host=0.0.0.0 …" by the parameters of a group and the resources of its
// container. `head`: the address that a worker joins; empty for the head itself. `block`: it does not return.
[[nodiscard]] std::string rayStartCommand(const Json& parameters, const Json& container,
                                          const std::string& head, bool block);

// Returns "ray job submit … -- ENTRYPOINT" for the spec of a RayJob, to be run beside the head. Empty if its
// runtimeEnvYAML is no YAML.
[[nodiscard]] std::string raySubmitCommand(const Json& spec);

}  // namespace trainyard::cli
