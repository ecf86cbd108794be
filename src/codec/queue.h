#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/queue.h"

namespace trainyard::codec {

// Decodes a Queue of trainyard.dev/v1alpha1. An unusable spec is not an error of the call: it sets
// `Queue.specError`, which names the field, so that the queue's status can report it. An unreadable status
// counts as absent, because the operator's next write replaces it. kInvalid is for unusable metadata only.
[[nodiscard]] base::Result<model::Queue> decodeQueue(std::string_view json);

// Encodes the status object alone. Empty fields are left out, except counts and shares.
[[nodiscard]] std::string encodeQueueStatus(const model::QueueStatus& status);

// A merge patch for the status subresource that turns before.status into `after`. It holds only the changes
// and is guarded by resourceVersion; nullopt if nothing changed.
[[nodiscard]] std::optional<std::string> encodeQueueStatusPatch(const model::Queue& before,
                                                                const model::QueueStatus& after);

}  // namespace trainyard::codec
