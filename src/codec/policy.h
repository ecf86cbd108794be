#pragma once

#include <string>

#include "base/error.h"
#include "model/policy.h"
#include "model/provisioning.h"

namespace trainyard::codec {

// The cluster's policy file (docs/policy.md). Keys that are left out have model::Policy's defaults, so an
// empty file is the default policy. `file` is its name for messages. kInvalid names line and field, and what
// would do: "policy.yaml:12: relaxation.perGpu: must be a duration such as 5s, not -3s".
[[nodiscard]] base::Result<model::Policy> decodePolicy(const std::string& yaml, const std::string& file);

// Its gpuResources alone: what is wrong elsewhere in the file is not looked at. For who must go on with a
// file that the operator refuses.
[[nodiscard]] base::Result<std::vector<std::string>> decodeGpuResources(const std::string& yaml,
                                                                        const std::string& file);

// The whole file: what plans depend on, and what the operator does besides.
struct PolicyFile {
  model::Policy policy = {};
  model::ProvisioningPolicy provisioning = {};
  friend bool operator==(const PolicyFile&, const PolicyFile&) = default;
};
[[nodiscard]] base::Result<PolicyFile> decodePolicyFile(const std::string& yaml, const std::string& file);

}  // namespace trainyard::codec
