#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::model {

// Which resources are GPUs: a setting of the process, like its time zone. It is the policy's `gpuResources`.
// Each program sets it before it reads anything of the cluster, because the decoders already count by it; it
// does not change afterwards. (Rejected: a parameter of everything that counts GPUs, from the decoders to the
// guard. Each caller would pass on the one list there is.)
//
// Never empty. The default without a call of setGpuResources is nvidia.com/gpu.
[[nodiscard]] const std::vector<std::string>& gpuResources();
[[nodiscard]] bool isGpuResource(std::string_view name);

// Must not run while other threads count GPUs. An empty list sets the default.
void setGpuResources(std::vector<std::string> names);

}  // namespace trainyard::model
