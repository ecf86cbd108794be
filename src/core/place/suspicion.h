#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/policy.h"
#include "model/shared_list.h"

namespace trainyard::core {

// Whether the job last failed of what its node may be to blame for: a device, a disk, a driver.
[[nodiscard]] bool accusesNode(const model::Job& job);

// Nodes on which failures.suspectAfter gangs failed of that within failures.suspectFor, by the last failure
// of each: one program that fails everywhere accuses one node only. Where the policy wants several, they are
// of two namespaces at least: what a program prints is its owner's word, and one tenant alone, who may print
// "Xid" in two jobs of his own, must not take a node from the others. In a cluster of one namespace there are
// no others. A node is no longer suspected once a gang began to run there whose members had it checked, by
// the policy's check (spec.health.preflight). Those that fewest accuse come first; ties: by name.
// Nothing is kept of it: whoever leads finds the same in the jobs' status.
// `accusing`: those of `all` for which accusesNode() holds.
[[nodiscard]] std::vector<model::NodeName> suspectedNodes(
    const std::vector<std::shared_ptr<const model::Job>>& accusing, const model::SharedList<model::Job>& all,
    const model::Policy& policy, base::WallTime now);

}  // namespace trainyard::core
