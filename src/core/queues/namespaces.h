#pragma once

#include <string>

#include "model/snapshot.h"

namespace trainyard::core {

// Whether the queue's namespaceSelector selects the namespace; one that selects nothing in particular selects
// all. A namespace that was not seen yet is not selected: nothing is known of its labels.
[[nodiscard]] bool namespaceAllowed(const model::Queue& queue, const std::string& ns,
                                    const model::Snapshot& snapshot);

}  // namespace trainyard::core
