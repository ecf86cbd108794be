#pragma once

#include <cstddef>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// "JOB-members-UID". The uid makes the name unique to this job, so an existing ConfigMap of that name is its
// own. It need not be read to verify that, so the operator needs no permission to read all ConfigMaps.
[[nodiscard]] std::string configMapName(const model::Job& job);

// The most that `hosts.txt` takes of model::limits::kConfigMapBytes.
[[nodiscard]] std::size_t hostsBytes(std::size_t members, std::size_t longestHost);

// The v1 ConfigMap of the members, ordered by role and index: `hosts.txt` has one host per line,
// `members.json` has role, index and host. A ConfigMap holds at most one mebibyte. If both files do not fit,
// members.json is left out, because it adds nothing to hosts.txt.
[[nodiscard]] std::string encodeConfigMap(const model::Job& job);

}  // namespace trainyard::codec
