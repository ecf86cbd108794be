#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/policy.h"

namespace trainyard::core {

// Whether the job last failed of what its node may be to blame for: a device, a disk, a driver.
[[nodiscard]] bool accusesNode(const model::Job& job);

// Nodes on which several gangs failed of that within failures.suspectFor, by the last failure of each: one
// program that fails everywhere accuses one node only. Those that fewest accuse come first; ties: by name.
// Nothing is kept of it: whoever leads finds the same in the jobs' status.
[[nodiscard]] std::vector<model::NodeName> suspectedNodes(
    const std::vector<std::shared_ptr<const model::Job>>& accusing, const model::FailureHandling& policy,
    base::WallTime now);

}  // namespace trainyard::core
