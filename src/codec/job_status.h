#pragma once

#include <optional>
#include <string>

#include "model/job.h"

namespace trainyard::codec {

// Encodes the status object alone: {"phase":…}. Empty fields are left out.
[[nodiscard]] std::string encodeJobStatus(const model::JobStatus& status);

// Returns a merge patch for the status subresource that turns before.status into `after`. It holds only the
// changes, so that fields of newer versions stay. Returns nullopt if nothing changed. The patch names the
// resourceVersion: kConflict if the job changed or was replaced. (Rejected: the uid. The API server ignores
// it in a status patch of a custom resource, seen with 1.36.3.)
[[nodiscard]] std::optional<std::string> encodeStatusPatch(const model::Job& before,
                                                           const model::JobStatus& after);

}  // namespace trainyard::codec
