#pragma once

#include <optional>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// The status object alone: {"phase":…}. What is empty is left out.
[[nodiscard]] std::string encodeJobStatus(const model::JobStatus& status);

enum class PatchGuard {
  kNone,             // for what the next write would correct: counts, conditions
  kResourceVersion,  // kConflict when the job has moved on: for the gang record
};

// A merge patch for the status subresource that turns before.status into `after`, with what changed only, so
// that fields of newer versions stay; absent when nothing did. Carries the uid: a job of the same name that
// was created since is another one.
[[nodiscard]] std::optional<std::string> encodeStatusPatch(const model::Job& before,
                                                           const model::JobStatus& after,
                                                           PatchGuard guard = PatchGuard::kResourceVersion);

}  // namespace trainyard::codec
