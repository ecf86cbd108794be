#pragma once

#include <string>

#include "model/snapshot.h"

namespace trainyard::core {

// Whether the queue's namespaceSelector selects the namespace; one that selects nothing in particular selects
// all. A namespace that was not seen yet is not selected: nothing is known of its labels.
[[nodiscard]] bool namespaceAllowed(const model::Queue& queue, const std::string& ns,
                                    const model::Snapshot& snapshot);

// Whether the queue and all above it allow the namespace. One that has no object is nobody's to close.
[[nodiscard]] bool queueOpenTo(const model::QueueName& queue, const std::string& ns,
                               const model::Snapshot& snapshot);

// The queue that its namespace says jobs without any are of; nullptr where it says none.
[[nodiscard]] const std::string* defaultQueueOf(const model::Namespace& space);
// The queue that a job asks for: its own, else its namespace's default one.
// The queues above this one, its parent first; without those that do not exist.
[[nodiscard]] std::vector<model::QueueName> ancestorsOf(const model::QueueName& queue,
                                                        const model::Snapshot& snapshot);
[[nodiscard]] model::QueueName askedQueue(const model::Job& job, const model::Snapshot& snapshot);

}  // namespace trainyard::core
