#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::codec {

// The files for ssh between the members of a job, with keys of this job only and without prompts: client and
// server configuration, and the start scripts. Their keys are those of model/framework_files.h. `domain` is
// the domain of the job's Service; the client's settings apply to hosts below it.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> sshFiles(std::string_view domain);

}  // namespace trainyard::codec
