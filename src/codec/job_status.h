#pragma once

#include <optional>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// Encodes the status object alone: {"phase":…}. Empty fields are left out.
[[nodiscard]] std::string encodeJobStatus(const model::JobStatus& status);

enum class PatchGuard {
  // For values that the next write would correct: counts and times. Such a patch also reaches a new job of
  // the same name, because the API server ignores a uid in a status patch of a custom resource (seen with
  // 1.36.3).
  kNone,
  kResourceVersion,  // kConflict if the job changed or was replaced: for the gang record
};

// Returns a merge patch for the status subresource that turns before.status into `after`. It holds only the
// changes, so that fields of newer versions stay. Returns nullopt if nothing changed.
[[nodiscard]] std::optional<std::string> encodeStatusPatch(const model::Job& before,
                                                           const model::JobStatus& after,
                                                           PatchGuard guard = PatchGuard::kResourceVersion);

}  // namespace trainyard::codec
