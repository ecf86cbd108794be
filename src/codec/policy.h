#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "model/policy.h"
#include "model/provisioning.h"

namespace trainyard::codec {

// Reads the cluster's policy file (docs/policy.md). Absent keys have the defaults of model::Policy, so an
// empty file is the default policy. `file` is its name in messages. kInvalid names line and field, and the
// valid form: "policy.yaml:12: relaxation.perGpu: must be a duration such as 5s, not -3s".
[[nodiscard]] base::Result<model::Policy> decodePolicy(const std::string& yaml, const std::string& file);

// What counts as GPUs, for model::setGpuResources(): its gpuResources and deviceClasses.
[[nodiscard]] std::vector<std::string> gpuNamesOf(const model::Policy& policy);

// Reads these names alone and ignores errors elsewhere in the file. For programs that must continue with
// a file that the operator refuses.
[[nodiscard]] base::Result<std::vector<std::string>> decodeGpuResources(const std::string& yaml,
                                                                        const std::string& file);

// The whole file: the inputs of a plan, and the settings of the operator.
struct PolicyFile {
  model::Policy policy = {};
  model::ProvisioningPolicy provisioning = {};
  friend bool operator==(const PolicyFile&, const PolicyFile&) = default;
};
[[nodiscard]] base::Result<PolicyFile> decodePolicyFile(const std::string& yaml, const std::string& file);

}  // namespace trainyard::codec
