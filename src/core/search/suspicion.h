#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/policy.h"
#include "model/shared_list.h"

namespace trainyard::core {

// Whether the node may be the cause of the job's last failure: a device, a disk, a driver.
[[nodiscard]] bool accusesNode(const model::Job& job);

// Nodes on which failures.suspectAfter gangs had such a failure within failures.suspectFor. The last failure
// of each gang counts, so one program that fails everywhere accuses one node only. If the policy requires
// several gangs, they must be in at least two namespaces: users control what their programs print. One tenant
// that prints "Xid" in two of its jobs must not take a node from the others; a cluster with one namespace has
// no others. A gang that had its nodes checked by the policy's check (spec.health.preflight) and starts to
// run on a node ends the suspicion. The nodes with the fewest accusing gangs come first; ties: by name. No
// state is kept: every leader derives the same from the jobs' status.
// `accusing`: the jobs of `all` for which accusesNode() holds.
[[nodiscard]] std::vector<model::NodeName> suspectedNodes(
    const std::vector<std::shared_ptr<const model::Job>>& accusing, const model::SharedList<model::Job>& all,
    const model::Policy& policy, base::WallTime now);

}  // namespace trainyard::core
