#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/queue.h"

namespace trainyard::codec {

// A Queue of trainyard.dev/v1alpha1. A spec that cannot be used is no failure but `Queue.specError`, naming
// the field: the queue exists, and its owner must be told. A status that cannot be read counts as not written
// yet: it is our own report, and the next one replaces it. kInvalid, naming queue and field, is for metadata.
[[nodiscard]] base::Result<model::Queue> decodeQueue(std::string_view json);

// The status object alone; what is empty is left out, counts and shares never are.
[[nodiscard]] std::string encodeQueueStatus(const model::QueueStatus& status);

// A merge patch for the status subresource that turns before.status into `after`, with what changed only,
// guarded by resourceVersion; absent when nothing did.
[[nodiscard]] std::optional<std::string> encodeQueueStatusPatch(const model::Queue& before,
                                                                const model::QueueStatus& after);

}  // namespace trainyard::codec
