#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// The ConfigMap of what a framework reads from files: model/framework_files.h says what and where.

// "JOB-files-HASH" over all that its content follows from. A gang of another size has another one: nobody has
// to change what running pods read, nor be allowed to, and where the name exists it is the job's own.
[[nodiscard]] std::string frameworkFilesName(const model::Job& job);

// The v1 ConfigMap, as large as the gang is by its record; nullopt where the framework reads no files. The
// hosts in hydra's way of writing are left out where a ConfigMap does not hold both lists.
[[nodiscard]] std::optional<std::string> encodeFrameworkFiles(const model::Job& job);

// What the list of hosts takes of model::limits::kConfigMapBytes, at most, beside the files that are always
// the same.
[[nodiscard]] std::size_t hostfileBytes(std::size_t members, std::size_t longestHost);

}  // namespace trainyard::codec
