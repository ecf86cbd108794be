#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::codec {

// "JOB-members": not the job's own name, which users like to give to ConfigMaps of theirs.
[[nodiscard]] std::string configMapName(const model::Job& job);

// The v1 ConfigMap of the members in the order of roles and indices: `hosts.txt` with one host a line,
// `members.json` with role, index and host.
[[nodiscard]] std::string encodeConfigMap(const model::Job& job);

}  // namespace trainyard::codec
