#pragma once

#include <string>

#include "model/snapshot.h"

namespace trainyard::core {

// Whether the queue's namespaceSelector selects the namespace; an empty selector selects all. A namespace
// that was not observed yet is not selected, because its labels are unknown.
[[nodiscard]] bool namespaceAllowed(const model::Queue& queue, const std::string& ns,
                                    const model::Snapshot& snapshot);

// Whether the queue and all above it allow the namespace. A queue without an object allows all.
[[nodiscard]] bool queueOpenTo(const model::QueueName& queue, const std::string& ns,
                               const model::Snapshot& snapshot);

// The queue for jobs that name none, by the label of the namespace; nullptr if it has no such label.
[[nodiscard]] const std::string* defaultQueueOf(const model::Namespace& space);
// ancestorsOf(): the existing queues above this one, its parent first. requestedQueue(): the queue that the
// job requests, else the default one of its namespace.
[[nodiscard]] std::vector<model::QueueName> ancestorsOf(const model::QueueName& queue,
                                                        const model::Snapshot& snapshot);
[[nodiscard]] model::QueueName requestedQueue(const model::Job& job, const model::Snapshot& snapshot);

}  // namespace trainyard::core
