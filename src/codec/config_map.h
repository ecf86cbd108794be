#pragma once

#include <cstddef>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// "JOB-members-UID". With the uid nobody else has a use for the name: where it exists it is ours, and need
// not be read to know that, for which the operator would have to be allowed to read everybody's ConfigMaps.
[[nodiscard]] std::string configMapName(const model::Job& job);

// What its `hosts.txt` takes of model::limits::kConfigMapBytes, at most.
[[nodiscard]] std::size_t hostsBytes(std::size_t members, std::size_t longestHost);

// The v1 ConfigMap of the members in the order of roles and indices: `hosts.txt` with one host a line,
// `members.json` with role, index and host. A ConfigMap holds no more than a mebibyte: where both do not fit,
// members.json is left out, which says nothing that hosts.txt does not say.
[[nodiscard]] std::string encodeConfigMap(const model::Job& job);

}  // namespace trainyard::codec
