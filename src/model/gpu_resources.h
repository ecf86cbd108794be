#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::model {

// Which resources are GPUs: a setting of the process, like its time zone. It is the policy's `gpuResources`,
// set by each program before it reads anything of the cluster, and does not change while it runs: the
// decoders already count by it. (Lost: a parameter of everything that counts GPUs, from the decoders to the
// guard. Each caller would pass on the one list there is.)
//
// Never empty. Without a call of setGpuResources: nvidia.com/gpu.
[[nodiscard]] const std::vector<std::string>& gpuResources();
[[nodiscard]] bool isGpuResource(std::string_view name);

// Not while other threads count. An empty list is the default.
void setGpuResources(std::vector<std::string> names);

}  // namespace trainyard::model
