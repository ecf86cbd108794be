#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::codec {

// What makes ssh between the members of a job work without a question asked, with keys that only this job
// has: configuration of client and server, and the scripts that members begin with. By their keys in
// model/framework_files.h. `domain` is that of the job's Service; below it the client's settings hold.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> sshFiles(std::string_view domain);

}  // namespace trainyard::codec
