#pragma once

#include <optional>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// The status object alone: {"phase":…}. What is empty is left out.
[[nodiscard]] std::string encodeJobStatus(const model::JobStatus& status);

enum class PatchGuard {
  // For what the next write would correct: counts, times. It also reaches a job of the same name that was
  // created
  // meanwhile: the API server ignores a uid in a status patch of a custom resource (seen with 1.36.3).
  kNone,
  kResourceVersion,  // kConflict when the job has moved on, or is another one: for the gang record
};

// A merge patch for the status subresource that turns before.status into `after`, with what changed only, so
// that fields of newer versions stay; absent when nothing did.
[[nodiscard]] std::optional<std::string> encodeStatusPatch(const model::Job& before,
                                                           const model::JobStatus& after,
                                                           PatchGuard guard = PatchGuard::kResourceVersion);

}  // namespace trainyard::codec
