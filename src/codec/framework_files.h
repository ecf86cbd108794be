#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// The ConfigMap with the files that a framework reads. Contents and paths: model/framework_files.h.

// "JOB-files-HASH", a hash over all inputs of the content. Each size of a gang has its own ConfigMap: the
// files of running pods never change, which needs no permission. An existing one is the job's own.
[[nodiscard]] std::string frameworkFilesName(const model::Job& job);

// The v1 ConfigMap, for the size of the gang in its record; nullopt if the framework reads no files. The
// hosts in the hydra notation are left out if a ConfigMap does not hold both lists.
[[nodiscard]] std::optional<std::string> encodeFrameworkFiles(const model::Job& job);

// The most that the list of hosts takes of model::limits::kConfigMapBytes, in addition to the files of fixed
// size.
[[nodiscard]] std::size_t hostfileBytes(std::size_t members, std::size_t longestHost);

}  // namespace trainyard::codec
